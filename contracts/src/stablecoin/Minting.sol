// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Balances} from "./Balances.sol";

/// @title Minting
/// @notice The master minter grants minters an allowance; each mint uses it up. Minters burn what they own themselves.
abstract contract Minting is Balances {
    address private _masterMinter;
    mapping(address account => bool) private _minters;
    mapping(address minter => uint256) private _minterAllowances;

    event Mint(address indexed minter, address indexed to, uint256 amount);
    event Burn(address indexed burner, uint256 amount);
    event MinterConfigured(address indexed minter, uint256 minterAllowedAmount);
    event MinterRemoved(address indexed oldMinter);
    event MasterMinterChanged(address indexed newMasterMinter);

    modifier onlyMinters() {
        require(_minters[msg.sender], "FiatToken: caller is not a minter");
        _;
    }

    modifier onlyMasterMinter() {
        require(msg.sender == _masterMinter, "FiatToken: caller is not the masterMinter");
        _;
    }

    /// @notice The account that grants and revokes the right to mint.
    function masterMinter() external view returns (address) {
        return _masterMinter;
    }

    /// @notice Whether `account` may mint and burn.
    function isMinter(address account) external view returns (bool) {
        return _minters[account];
    }

    /// @notice How much `minter` may still mint, in the smallest units.
    function minterAllowance(address minter) external view returns (uint256) {
        return _minterAllowances[minter];
    }

    /// @notice Makes `minter` a minter and sets, not adds, its allowance.
    /// @return Always true; every failure reverts.
    function configureMinter(address minter, uint256 minterAllowedAmount)
        external
        whenNotPaused
        onlyMasterMinter
        returns (bool)
    {
        _minters[minter] = true;
        _minterAllowances[minter] = minterAllowedAmount;
        emit MinterConfigured(minter, minterAllowedAmount);
        return true;
    }

    /// @notice Ends the right of `minter` to mint and burn; works while paused, since it only takes away.
    /// @return Always true; every failure reverts.
    function removeMinter(address minter) external onlyMasterMinter returns (bool) {
        _minters[minter] = false;
        _minterAllowances[minter] = 0;
        emit MinterRemoved(minter);
        return true;
    }

    /// @notice Creates `amount` in the account of `to`, out of the caller's allowance.
    /// @return Always true; every failure reverts.
    function mint(address to, uint256 amount)
        external
        whenNotPaused
        onlyMinters
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        require(to != address(0), "FiatToken: mint to the zero address");
        require(amount > 0, "FiatToken: mint amount not greater than 0");
        uint256 allowed = _minterAllowances[msg.sender];
        require(amount <= allowed, "FiatToken: mint amount exceeds minterAllowance");
        _minterAllowances[msg.sender] = allowed - amount;
        _credit(to, amount);
        emit Mint(msg.sender, to, amount);
        emit Transfer(address(0), to, amount);
        return true;
    }

    /// @notice Destroys `amount` of the caller's own balance. The caller's allowance to mint does not grow by it.
    function burn(uint256 amount) external whenNotPaused onlyMinters notBlacklisted(msg.sender) {
        require(amount > 0, "FiatToken: burn amount not greater than 0");
        _debit(msg.sender, amount);
        emit Burn(msg.sender, amount);
        emit Transfer(msg.sender, address(0), amount);
    }

    /// @notice Appoints the master minter.
    function updateMasterMinter(address newMasterMinter) external onlyOwner {
        require(newMasterMinter != address(0), "FiatToken: new masterMinter is the zero address");
        _setMasterMinter(newMasterMinter);
    }

    function _setMasterMinter(address newMasterMinter) internal {
        _masterMinter = newMasterMinter;
        emit MasterMinterChanged(newMasterMinter);
    }
}
