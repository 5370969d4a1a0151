// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "./Ownable.sol";

/// @title Blacklistable
/// @notice The blacklister can freeze single accounts: a frozen account neither sends nor receives nor spends.
abstract contract Blacklistable is Ownable {
    address private _blacklister;
    mapping(address account => bool) private _blacklisted;

    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);
    event BlacklisterChanged(address indexed newBlacklister);

    modifier onlyBlacklister() {
        require(msg.sender == _blacklister, "Blacklistable: caller is not the blacklister");
        _;
    }

    modifier notBlacklisted(address account) {
        _requireNotBlacklisted(account);
        _;
    }

    /// @notice The account that can freeze and unfreeze others.
    function blacklister() external view returns (address) {
        return _blacklister;
    }

    /// @notice Whether `account` is frozen. The token itself always is: what is sent to it would be lost.
    function isBlacklisted(address account) public view returns (bool) {
        return account == address(this) || _blacklisted[account];
    }

    /// @notice Freezes `account`.
    function blacklist(address account) external onlyBlacklister {
        _blacklisted[account] = true;
        emit Blacklisted(account);
    }

    /// @notice Unfreezes `account`.
    function unBlacklist(address account) external onlyBlacklister {
        _blacklisted[account] = false;
        emit UnBlacklisted(account);
    }

    /// @notice Appoints the blacklister.
    function updateBlacklister(address newBlacklister) external onlyOwner {
        require(newBlacklister != address(0), "Blacklistable: new blacklister is the zero address");
        _setBlacklister(newBlacklister);
    }

    // A function for the sake of code size, as in Pausable.
    function _requireNotBlacklisted(address account) private view {
        require(!isBlacklisted(account), "Blacklistable: account is blacklisted");
    }

    function _setBlacklister(address newBlacklister) internal {
        _blacklister = newBlacklister;
        emit BlacklisterChanged(newBlacklister);
    }
}
