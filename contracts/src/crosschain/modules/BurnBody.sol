// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Words} from "./Words.sol";

/// @title BurnBody
/// @notice The body of the message about a burn, version 1. Fields are packed, numbers big-endian:
///
///   field            offset  bytes  as emitted
///   version               0      4  that of the messenger
///   burnToken             4     32  the token that was burned
///   mintRecipient        36     32  chosen by the depositor
///   amount               68     32  in the smallest units of the token
///   messageSender       100     32  the caller of depositForBurn
///   maxFee              132     32  chosen by the depositor
///   feeExecuted         164     32  0; the attesters fill it
///   expirationBlock     196     32  0, which is never; the attesters fill it with a block of the destination
///   hookData            228   rest  chosen by the depositor
library BurnBody {
    using Words for bytes;

    uint256 private constant HOOK_DATA = 228;

    /// @dev Without the depositor and the hook data, which the messenger does not act on.
    struct Burn {
        uint32 version;
        bytes32 burnToken;
        bytes32 mintRecipient;
        uint256 amount;
        uint256 maxFee;
        uint256 feeExecuted;
        uint256 expirationBlock;
    }

    function open(bytes calldata body) internal pure returns (Burn memory burn) {
        require(body.length >= HOOK_DATA, "Invalid burn message: too short");
        burn.version = body.uint32At(0);
        burn.burnToken = body.wordAt(4);
        burn.mintRecipient = body.wordAt(36);
        burn.amount = body.uintAt(68);
        burn.maxFee = body.uintAt(132);
        burn.feeExecuted = body.uintAt(164);
        burn.expirationBlock = body.uintAt(196);
    }
}
