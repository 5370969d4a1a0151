// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {TokenRoles} from "./TokenRoles.sol";

/// @title SaleTerms
/// @notice For shops: the account that receives the proceeds of first sales, and the platform's share of them.
/// @dev A record for shops: the templates sell nothing, and nothing is charged here.
abstract contract SaleTerms is TokenRoles {
    uint256 internal constant BASIS_POINTS = 10_000;

    address private _primarySaleRecipient;
    address private _platformFeeRecipient;
    uint16 private _platformFeeBps;

    event PrimarySaleRecipientUpdated(address indexed recipient);
    event PlatformFeeInfoUpdated(address indexed platformFeeRecipient, uint256 platformFeeBps);

    /// @notice The zero address can receive nothing.
    error InvalidRecipient();

    /// @notice A share of more than 10,000 basis points is more than the whole.
    error InvalidShare(uint256 basisPoints);

    /// @notice The account that receives the proceeds of first sales.
    function primarySaleRecipient() external view returns (address) {
        return _primarySaleRecipient;
    }

    /// @notice The account that receives the platform's share, and the share in basis points.
    function getPlatformFeeInfo() external view returns (address, uint16) {
        return (_platformFeeRecipient, _platformFeeBps);
    }

    /// @notice Sets the account that receives the proceeds of first sales.
    function setPrimarySaleRecipient(address recipient) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _setPrimarySaleRecipient(recipient);
    }

    /// @notice Sets the platform's share. Only a share of zero needs no recipient.
    function setPlatformFeeInfo(address recipient, uint256 basisPoints) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _setPlatformFeeInfo(recipient, basisPoints);
    }

    function _setPrimarySaleRecipient(address recipient) internal {
        if (recipient == address(0)) revert InvalidRecipient();
        _primarySaleRecipient = recipient;
        emit PrimarySaleRecipientUpdated(recipient);
    }

    function _setPlatformFeeInfo(address recipient, uint256 basisPoints) internal {
        if (basisPoints > BASIS_POINTS) revert InvalidShare(basisPoints);
        if (basisPoints > 0 && recipient == address(0)) revert InvalidRecipient();
        _platformFeeRecipient = recipient;
        _platformFeeBps = uint16(basisPoints);
        emit PlatformFeeInfoUpdated(recipient, basisPoints);
    }
}
