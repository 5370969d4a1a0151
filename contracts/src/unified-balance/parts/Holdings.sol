// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {GatewayBase} from "./GatewayBase.sol";

/// @title Holdings
/// @notice The balances of depositors, each in two parts: available, and withdrawing since `initiateWithdrawal`.
/// The sum of all is what the wallet owns of the token.
abstract contract Holdings is GatewayBase {
    struct Holding {
        uint256 available;
        uint256 withdrawing;
        /// The block from which on the withdrawing part can be taken out; zero when none was started.
        uint256 withdrawalBlock;
    }

    mapping(address token => mapping(address depositor => Holding)) private _holdings;

    error InputArrayLengthMismatch();
    error NoWithdrawingBalance();

    function totalBalance(address token, address depositor) public view returns (uint256) {
        Holding storage holding = _holdings[token][depositor];
        return holding.available + holding.withdrawing;
    }

    function availableBalance(address token, address depositor) public view returns (uint256) {
        return _holdings[token][depositor].available;
    }

    function withdrawingBalance(address token, address depositor) public view returns (uint256) {
        return _holdings[token][depositor].withdrawing;
    }

    /// @notice The withdrawing balance once its block is reached, and zero before.
    function withdrawableBalance(address token, address depositor) public view returns (uint256) {
        Holding storage holding = _holdings[token][depositor];
        return holding.withdrawalBlock > block.number ? 0 : holding.withdrawing;
    }

    /// @notice The block from which on the withdrawing balance can be taken out; zero without a withdrawal.
    function withdrawalBlock(address token, address depositor) public view returns (uint256) {
        return _holdings[token][depositor].withdrawalBlock;
    }

    /// @notice The same balances in the form of ERC-1155.
    /// @param id (kind << 160) + token, with the kind 0 total, 1 available, 2 withdrawing, 3 withdrawable; others have no balance
    function balanceOf(address depositor, uint256 id) public view returns (uint256 balance) {
        address token = address(uint160(id));
        uint256 kind = id >> 160;
        if (kind == 0) return totalBalance(token, depositor);
        if (kind == 1) return availableBalance(token, depositor);
        if (kind == 2) return withdrawingBalance(token, depositor);
        if (kind == 3) return withdrawableBalance(token, depositor);
    }

    /// @notice Several balances at once, that of `depositors[i]` by `ids[i]`.
    function balanceOfBatch(address[] calldata depositors, uint256[] calldata ids)
        external
        view
        returns (uint256[] memory balances)
    {
        if (depositors.length != ids.length) revert InputArrayLengthMismatch();
        balances = new uint256[](ids.length);
        for (uint256 i = 0; i < ids.length; ++i) {
            balances[i] = balanceOf(depositors[i], ids[i]);
        }
    }

    function _credit(address token, address depositor, uint256 value) internal {
        _holdings[token][depositor].available += value;
    }

    /// @dev The caller checks that `value` is available.
    function _beginWithdrawal(address token, address depositor, uint256 value, uint256 atBlock)
        internal
        returns (uint256 available, uint256 withdrawing)
    {
        Holding storage holding = _holdings[token][depositor];
        available = holding.available - value;
        withdrawing = holding.withdrawing + value;
        holding.available = available;
        holding.withdrawing = withdrawing;
        holding.withdrawalBlock = atBlock;
    }

    function _endWithdrawal(address token, address depositor) internal returns (uint256 value) {
        Holding storage holding = _holdings[token][depositor];
        value = holding.withdrawing;
        if (value == 0) revert NoWithdrawingBalance();
        holding.withdrawing = 0;
        holding.withdrawalBlock = 0;
    }

    /// @dev Takes as much of `wanted` as there is, from the available part first.
    function _debit(address token, address depositor, uint256 wanted)
        internal
        returns (uint256 fromAvailable, uint256 fromWithdrawing)
    {
        Holding storage holding = _holdings[token][depositor];
        fromAvailable = _lesser(wanted, holding.available);
        fromWithdrawing = _lesser(wanted - fromAvailable, holding.withdrawing);
        holding.available -= fromAvailable;
        holding.withdrawing -= fromWithdrawing;
    }

    function _lesser(uint256 one, uint256 other) private pure returns (uint256) {
        return one < other ? one : other;
    }
}
