// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";

/// @title TokenRoles
/// @notice The admin grants and revokes roles; minters create tokens; TRANSFER_ROLE may restrict who moves them.
/// @dev Every account may transfer while the zero address has TRANSFER_ROLE, as it has after deployment. Once the
/// admin revokes that, the sender or the receiver of a transfer must have the role; minting and burning need it never.
abstract contract TokenRoles is AccessControl {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");
    bytes32 public constant TRANSFER_ROLE = keccak256("TRANSFER_ROLE");

    /// @notice Transfers are restricted, and neither account has TRANSFER_ROLE.
    error TransferRestricted(address from, address to);

    /// @notice A contract without an admin could never be changed.
    error InvalidAdmin();

    function _grantInitialRoles(address defaultAdmin) internal {
        if (defaultAdmin == address(0)) revert InvalidAdmin();
        _grantRole(DEFAULT_ADMIN_ROLE, defaultAdmin);
        _grantRole(MINTER_ROLE, defaultAdmin);
        _grantRole(TRANSFER_ROLE, defaultAdmin);
        _grantRole(TRANSFER_ROLE, address(0));
    }

    function _checkTransfer(address from, address to) internal view {
        if (from == address(0) || to == address(0) || hasRole(TRANSFER_ROLE, address(0))) return;
        if (!hasRole(TRANSFER_ROLE, from) && !hasRole(TRANSFER_ROLE, to)) revert TransferRestricted(from, to);
    }
}
