// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {TwoStepOwnable} from "./TwoStepOwnable.sol";

/// @title Denylistable
/// @notice The denylister keeps single accounts from burning here. Their tokens are not touched: see the token's own blacklist.
abstract contract Denylistable is TwoStepOwnable {
    address private _denylister;
    mapping(address account => bool) private _denylisted;

    event DenylisterChanged(address indexed oldDenylister, address indexed newDenylister);
    event Denylisted(address indexed account);
    event UnDenylisted(address indexed account);

    modifier onlyDenylister() {
        require(msg.sender == _denylister, "Denylistable: caller is not denylister");
        _;
    }

    /// @dev The signer of the transaction counts too, so that no contract in between hides it.
    modifier notDenylistedCallers() {
        _requireNotDenylisted(msg.sender);
        // solhint-disable-next-line avoid-tx-origin
        if (tx.origin != msg.sender) _requireNotDenylisted(tx.origin);
        _;
    }

    /// @notice The account that keeps the list.
    function denylister() external view returns (address) {
        return _denylister;
    }

    /// @notice Whether `account` is kept from burning.
    function isDenylisted(address account) external view returns (bool) {
        return _denylisted[account];
    }

    /// @notice Adds `account` to the list.
    function denylist(address account) external onlyDenylister {
        _denylisted[account] = true;
        emit Denylisted(account);
    }

    /// @notice Takes `account` off the list.
    function unDenylist(address account) external onlyDenylister {
        _denylisted[account] = false;
        emit UnDenylisted(account);
    }

    /// @notice Appoints the denylister.
    function updateDenylister(address newDenylister) external onlyOwner {
        _setDenylister(newDenylister);
    }

    function _setDenylister(address newDenylister) internal {
        require(newDenylister != address(0), "Denylistable: new denylister is the zero address");
        emit DenylisterChanged(_denylister, newDenylister);
        _denylister = newDenylister;
    }

    function _requireNotDenylisted(address account) private view {
        require(!_denylisted[account], "Denylistable: account is on denylist");
    }
}
