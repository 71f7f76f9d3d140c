// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

import Foundation
import NetPathHTTP

// What is not there has its default: older versions knew fewer fields, and most requests use few. What is there and
// not known is left alone.
extension RetryableRequest: Codable {
    private enum CodingKeys: String, CodingKey {
        case id
        case endpoint
        case method
        case headers
        case body
        case bodyFile
        case timestamp
        case retryCount
        case maxRetries
        case requestType
        case priority
        case expiresAt
        case orderingKey
        case onFailure
        case idempotencyKey
        case requires
        case uniqueKey
        case ifExists
        case sensitiveHeaders
        case timeouts
        case keepsResponse
        case expects
        case needsHandler
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
        func value<Value: Decodable>(_ key: CodingKeys, _ absent: Value) throws -> Value {
            try values.decodeIfPresent(Value.self, forKey: key) ?? absent
        }
        self.init(
            id: try values.decode(UUID.self, forKey: .id),
            endpoint: try values.decode(String.self, forKey: .endpoint),
            method: try value(.method, "GET"),
            headers: try value(.headers, [:]),
            body: try values.decodeIfPresent(Data.self, forKey: .body),
            bodyFile: try values.decodeIfPresent(String.self, forKey: .bodyFile),
            timestamp: try value(.timestamp, Date()),
            maxRetries: try value(.maxRetries, 10),
            requestType: try value(.requestType, ""),
            priority: try value(.priority, .normal),
            expiresAt: try values.decodeIfPresent(Date.self, forKey: .expiresAt),
            orderingKey: try values.decodeIfPresent(String.self, forKey: .orderingKey),
            onFailure: try value(.onFailure, .hold),
            // Never made anew: a request that was kept without a key has none.
            idempotencyKey: try values.decodeIfPresent(String.self, forKey: .idempotencyKey).map { .value($0) }
                ?? IdempotencyKey.none,
            requires: try value(.requires, PathRequirements()),
            uniqueKey: try values.decodeIfPresent(String.self, forKey: .uniqueKey),
            ifExists: try value(.ifExists, .keep),
            sensitiveHeaders: try value(.sensitiveHeaders, []),
            expects: try value(.expects, ExpectedAnswer()),
            needsHandler: try value(.needsHandler, true),
            keepsResponse: try value(.keepsResponse, false)
        )
        self.retryCount = try value(.retryCount, 0)
        if let seconds = try values.decodeIfPresent(Seconds.self, forKey: .timeouts) {
            self.timeouts = TransportRequest.Timeouts(
                connect: .seconds(seconds.connect),
                total: seconds.total.map { .seconds($0) },
                stall: .seconds(seconds.stall),
                minimumRate: seconds.minimumRate ?? self.timeouts.minimumRate
            )
        }
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
        try encode(self.expects, unless: ExpectedAnswer(), .expects)
        try encode(self.needsHandler, unless: true, .needsHandler)
        try encode(self.keepsResponse, unless: false, .keepsResponse)
        if self.timeouts != TransportRequest.Timeouts() {
            let seconds = Seconds(
                connect: self.timeouts.connect / .seconds(1),
                total: self.timeouts.total.map { $0 / .seconds(1) },
                stall: self.timeouts.stall / .seconds(1),
                minimumRate: self.timeouts.minimumRate
            )
            try values.encode(seconds, forKey: .timeouts)
        }
    }
}
