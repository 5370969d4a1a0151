// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Words} from "./Words.sol";

/// @title Message
/// @notice The envelope of a cross-chain message, version 2. Fields are packed, numbers big-endian:
///
///   field                      offset  bytes  as emitted
///   version                         0      4  that of the transmitter
///   sourceDomain                    4      4  the local domain
///   destinationDomain               8      4  chosen by the sender
///   nonce                          12     32  0; the attesters fill it
///   sender                         44     32  the caller of sendMessage
///   recipient                      76     32  chosen by the sender
///   destinationCaller             108     32  chosen by the sender; 0 admits any caller
///   minFinalityThreshold          140      4  chosen by the sender
///   finalityThresholdExecuted     144      4  0; the attesters fill it
///   messageBody                   148   rest  chosen by the sender
library Message {
    using Words for bytes;

    uint256 private constant BODY = 148;

    /// @dev Without the threshold that the sender asked for, which binds the attesters and not the receiver.
    struct Envelope {
        uint32 version;
        uint32 sourceDomain;
        uint32 destinationDomain;
        bytes32 nonce;
        bytes32 sender;
        bytes32 recipient;
        bytes32 destinationCaller;
        uint32 finalityThresholdExecuted;
    }

    function open(bytes calldata message) internal pure returns (Envelope memory envelope) {
        require(message.length >= BODY, "Invalid message: too short");
        envelope.version = message.uint32At(0);
        envelope.sourceDomain = message.uint32At(4);
        envelope.destinationDomain = message.uint32At(8);
        envelope.nonce = message.wordAt(12);
        envelope.sender = message.wordAt(44);
        envelope.recipient = message.wordAt(76);
        envelope.destinationCaller = message.wordAt(108);
        envelope.finalityThresholdExecuted = message.uint32At(144);
    }

    function bodyOf(bytes calldata message) internal pure returns (bytes calldata) {
        return message[BODY:];
    }
}
