// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";

import {Blacklistable} from "./Blacklistable.sol";
import {Pausable} from "./Pausable.sol";

/// @title Balances
/// @notice The ERC-20 core: balances, allowances and their total. No fee, no rebase: what leaves one account arrives
/// whole at the other. An allowance is always spent, the greatest one too.
/// @dev Failures are the reason strings that clients of deployed fiat tokens match on, hence no custom errors.
abstract contract Balances is Pausable, Blacklistable, IERC20Metadata {
    string private _name;
    string private _symbol;
    string private _currency;
    uint8 private _decimals;
    uint256 private _totalSupply;
    mapping(address account => uint256) private _balances;
    mapping(address holder => mapping(address spender => uint256)) private _allowances;

    /// @inheritdoc IERC20Metadata
    function name() public view returns (string memory) {
        return _name;
    }

    /// @inheritdoc IERC20Metadata
    function symbol() external view returns (string memory) {
        return _symbol;
    }

    /// @notice The fiat currency that one unit stands for, such as "USD".
    function currency() external view returns (string memory) {
        return _currency;
    }

    /// @inheritdoc IERC20Metadata
    function decimals() external view returns (uint8) {
        return _decimals;
    }

    /// @notice Everything minted and not burned, in the smallest units; always the sum of all balances.
    function totalSupply() external view returns (uint256) {
        return _totalSupply;
    }

    /// @notice What `account` owns, in the smallest units.
    function balanceOf(address account) public view virtual returns (uint256) {
        return _balances[account];
    }

    /// @notice How much `spender` may still move out of the account of `holder`.
    function allowance(address holder, address spender) external view returns (uint256) {
        return _allowances[holder][spender];
    }

    /// @notice Moves `value` from the caller to `to`.
    /// @return Always true; every failure reverts.
    function transfer(address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        _transfer(msg.sender, to, value);
        return true;
    }

    /// @notice Moves `value` from `from` to `to` out of the caller's allowance.
    /// @return Always true; every failure reverts.
    function transferFrom(address from, address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(from)
        notBlacklisted(to)
        returns (bool)
    {
        uint256 allowed = _allowances[from][msg.sender];
        require(value <= allowed, "ERC20: transfer amount exceeds allowance");
        _allowances[from][msg.sender] = allowed - value;
        _transfer(from, to, value);
        return true;
    }

    /// @notice Sets what `spender` may move out of the caller's account, whatever it was before.
    /// @dev A spender who sees the change coming can spend the old and the new value; the two functions below cannot
    /// be abused so.
    /// @return Always true; every failure reverts.
    function approve(address spender, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(spender)
        returns (bool)
    {
        _approve(msg.sender, spender, value);
        return true;
    }

    /// @notice Adds `increment` to what `spender` may move out of the caller's account.
    /// @return Always true; every failure reverts.
    function increaseAllowance(address spender, uint256 increment)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(spender)
        returns (bool)
    {
        _approve(msg.sender, spender, _allowances[msg.sender][spender] + increment);
        return true;
    }

    /// @notice Takes `decrement` from what `spender` may move out of the caller's account.
    /// @return Always true; every failure reverts.
    function decreaseAllowance(address spender, uint256 decrement)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(spender)
        returns (bool)
    {
        uint256 allowed = _allowances[msg.sender][spender];
        require(decrement <= allowed, "ERC20: decreased allowance below zero");
        _approve(msg.sender, spender, allowed - decrement);
        return true;
    }

    function _setMetadata(string memory name_, string memory symbol_, string memory currency_, uint8 decimals_)
        internal
    {
        _name = name_;
        _symbol = symbol_;
        _currency = currency_;
        _decimals = decimals_;
    }

    function _approve(address holder, address spender, uint256 value) internal {
        require(holder != address(0), "ERC20: approve from the zero address");
        require(spender != address(0), "ERC20: approve to the zero address");
        _allowances[holder][spender] = value;
        emit Approval(holder, spender, value);
    }

    function _transfer(address from, address to, uint256 value) internal {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        require(value <= balanceOf(from), "ERC20: transfer amount exceeds balance");
        _moveBalance(from, to, value);
        emit Transfer(from, to, value);
    }

    /// @dev Emits no event: the caller's own comes before the Transfer, as log decoders expect.
    function _credit(address to, uint256 amount) internal {
        _totalSupply += amount;
        _moveBalance(address(0), to, amount);
    }

    /// @dev Emits no event, for the same reason.
    function _debit(address from, uint256 amount) internal {
        require(amount <= balanceOf(from), "FiatToken: burn amount exceeds balance");
        _totalSupply -= amount;
        _moveBalance(from, address(0), amount);
    }

    /// @dev Changes balances and nothing else; what is created comes from the zero address, and what is destroyed goes
    /// there. The sender has the amount.
    function _moveBalance(address from, address to, uint256 value) internal virtual {
        if (from != address(0)) _balances[from] -= value;
        if (to != address(0)) _balances[to] += value;
    }
}
