// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Words} from "./Words.sol";

/// @title ExecutorHook
/// @notice Hook data that has the executor of the destination use what a burn mints. Numbers are big-endian:
///
///   field            offset  bytes
///   "cctp-forward"        0     32  the request for the delivery: see the attestation service
///   magic                32     24  "circle-generic-executor", then zeros
///   version              56      4  1
///   length               60      4  of the rest
///   call                 64   rest  abi.encode(uint8 version, bytes32 recovery, address handler, bytes data)
library ExecutorHook {
    using Words for bytes;

    bytes24 private constant MAGIC = "circle-generic-executor";
    uint8 private constant VERSION = 1;

    error InvalidHookData();

    /// @notice The call in hook data. Reverts for hook data of another form.
    function callIn(bytes calldata hook)
        internal
        pure
        returns (address recovery, address handler, bytes memory data)
    {
        if (hook.length < 64 || bytes24(hook[32:56]) != MAGIC || hook.uint32At(56) != VERSION) {
            revert InvalidHookData();
        }
        uint8 version;
        bytes32 account;
        (version, account, handler, data) =
            abi.decode(hook[64:64 + hook.uint32At(60)], (uint8, bytes32, address, bytes));
        recovery = Words.toAddress(account);
        if (version != VERSION || recovery == address(0)) revert InvalidHookData();
    }
}
