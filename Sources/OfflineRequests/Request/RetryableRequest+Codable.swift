// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP

// What is not there has its default: older versions knew fewer fields, and most requests use few. What is there and
// not known is left alone.
extension RetryableRequest: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, endpoint, method, headers, body, bodyFile, timestamp, retryCount, maxRetries, requestType, priority
        case expiresAt, orderingKey, onFailure, idempotencyKey, requires, uniqueKey, ifExists, sensitiveHeaders
        case timeouts, responseLimit, keepsResponse, expectedStatuses, expectedHeaders, context
    }

    /// Durations as numbers of seconds, which other programs can read.
    private struct Seconds: Codable {
        var connect: Double
        var total: Double?
        var stall: Double
        var minimumRate: Int?
    }

    /// Decodes a request; only the id and the address must be there.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys, into field: inout Value) throws {
            field = try values.decodeIfPresent(Value.self, forKey: key) ?? field
        }
        self.init(
            id: try values.decode(UUID.self, forKey: .id),
            endpoint: try values.decode(String.self, forKey: .endpoint),
            // Never made anew: a request that was kept without a key has none.
            idempotencyKey: .none
        )
        try read(.method, into: &self.method)
        try read(.headers, into: &self.headers)
        try read(.body, into: &self.body)
        try read(.bodyFile, into: &self.bodyFile)
        try read(.timestamp, into: &self.timestamp)
        try read(.retryCount, into: &self.retryCount)
        try read(.maxRetries, into: &self.maxRetries)
        try read(.requestType, into: &self.requestType)
        try read(.priority, into: &self.priority)
        try read(.expiresAt, into: &self.expiresAt)
        try read(.orderingKey, into: &self.orderingKey)
        try read(.onFailure, into: &self.onFailure)
        try read(.idempotencyKey, into: &self.idempotencyKey)
        try read(.requires, into: &self.requires)
        try read(.uniqueKey, into: &self.uniqueKey)
        try read(.ifExists, into: &self.ifExists)
        try read(.sensitiveHeaders, into: &self.sensitiveHeaders)
        try read(.responseLimit, into: &self.responseLimit)
        try read(.expectedStatuses, into: &self.expectedStatuses)
        try read(.expectedHeaders, into: &self.expectedHeaders)
        try read(.keepsResponse, into: &self.keepsResponse)
        try read(.context, into: &self.context)
        guard let seconds = try values.decodeIfPresent(Seconds.self, forKey: .timeouts) else { return }
        self.timeouts = TransportRequest.Timeouts(
            connect: .seconds(seconds.connect),
            total: seconds.total.map { .seconds($0) },
            stall: .seconds(seconds.stall),
            minimumRate: seconds.minimumRate ?? self.timeouts.minimumRate
        )
    }

    /// Encodes a request, secrets included.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        func encode<Value: Encodable & Equatable>(_ value: Value, unless absent: Value, _ key: CodingKeys) throws {
            if value != absent { try values.encode(value, forKey: key) }
        }
        try values.encode(self.id, forKey: .id)
        try values.encode(self.endpoint, forKey: .endpoint)
        try values.encode(self.method, forKey: .method)
        try encode(self.headers, unless: [:], .headers)
        try values.encodeIfPresent(self.body, forKey: .body)
        try values.encodeIfPresent(self.bodyFile, forKey: .bodyFile)
        try values.encode(self.timestamp, forKey: .timestamp)
        try encode(self.retryCount, unless: 0, .retryCount)
        try values.encode(self.maxRetries, forKey: .maxRetries)
        try encode(self.requestType, unless: "", .requestType)
        try encode(self.priority, unless: .normal, .priority)
        try values.encodeIfPresent(self.expiresAt, forKey: .expiresAt)
        try values.encodeIfPresent(self.orderingKey, forKey: .orderingKey)
        try encode(self.onFailure, unless: .hold, .onFailure)
        try values.encodeIfPresent(self.idempotencyKey, forKey: .idempotencyKey)
        try encode(self.requires, unless: PathRequirements(), .requires)
        try values.encodeIfPresent(self.uniqueKey, forKey: .uniqueKey)
        try encode(self.ifExists, unless: .keep, .ifExists)
        try encode(self.sensitiveHeaders, unless: [], .sensitiveHeaders)
        try encode(self.responseLimit, unless: Self.usualResponseLimit, .responseLimit)
        try encode(self.expectedStatuses, unless: [], .expectedStatuses)
        try encode(self.expectedHeaders, unless: [:], .expectedHeaders)
        try encode(self.keepsResponse, unless: false, .keepsResponse)
        try values.encodeIfPresent(self.context, forKey: .context)
        guard self.timeouts != TransportRequest.Timeouts() else { return }
        let seconds = Seconds(
            connect: self.timeouts.connect / .seconds(1),
            total: self.timeouts.total.map { $0 / .seconds(1) },
            stall: self.timeouts.stall / .seconds(1),
            minimumRate: self.timeouts.minimumRate
        )
        try values.encode(seconds, forKey: .timeouts)
    }
}
