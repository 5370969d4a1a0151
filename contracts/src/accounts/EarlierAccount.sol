// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IEntryPoint} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {OwnershipPlugin} from "./OwnershipPlugin.sol";
import {SmartAccount} from "./SmartAccount.sol";

/// @title EarlierAccount
/// @notice An account of a version before the newest, which has no name. All versions keep their owners in the same place, so
/// that an upgrade keeps them.
contract EarlierAccount is SmartAccount {
    /// @notice The name of the version, in ASCII.
    bytes32 public immutable core;

    constructor(IEntryPoint entryPoint_, OwnershipPlugin plugin_, bytes32 core_)
        SmartAccount(entryPoint_, plugin_)
    {
        core = core_;
    }
}
