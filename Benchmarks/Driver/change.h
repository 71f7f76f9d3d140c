// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Makes changes to the network of this namespace through netlink, so that nothing but the kernel's own work lies
// between the time stamp and the event.

#pragma once

#include <stdbool.h>
#include <stdint.h>

/// The interface every change is about, with the address and the gateway that bench-in-namespace gives it.
#define UPLINK "wan0"

/// Opens the socket; ends the program when that fails.
void change_open(void);

/// Nanoseconds of CLOCK_MONOTONIC.
int64_t now(void);

/// Adds or removes the default route; waits for the kernel's acknowledgement and ends the program on a refusal.
void change_default_route(bool exists);
/// Adds or removes a second address.
void change_address(bool exists);
/// Sets the link up or down. Down takes the default route along.
void change_link(bool up);
/// Changes the MTU of an interface: an event that says nothing about the path.
void change_mtu(const char *interface, unsigned mtu);
/// Adds or removes that many routes to single hosts, 64 requests per system call; unacknowledged.
void change_host_routes(bool exist, uint32_t count);
