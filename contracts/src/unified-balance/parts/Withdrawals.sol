// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {Holdings} from "./Holdings.sol";

/// @title Withdrawals
/// @notice Takes tokens out on this chain, without the consent of the service, after a delay in which intents that were signed
/// before can still be burned.
abstract contract Withdrawals is Holdings {
    using SafeERC20 for IERC20;

    uint256 private _withdrawalDelay;

    event WithdrawalDelayChanged(uint256 indexed oldDelay, uint256 indexed newDelay);
    event WithdrawalInitiated(
        address indexed token,
        address indexed depositor,
        uint256 value,
        uint256 remainingAvailable,
        uint256 totalWithdrawing,
        uint256 withdrawalBlock
    );
    event WithdrawalCompleted(address indexed token, address indexed depositor, uint256 value);

    error WithdrawalValueMustBePositive();
    error WithdrawalValueExceedsAvailableBalance();
    error WithdrawalNotYetAvailable();

    /// @notice Blocks between the start and the end of a withdrawal.
    function withdrawalDelay() external view returns (uint256) {
        return _withdrawalDelay;
    }

    /// @notice Moves `value` to the withdrawing balance of the caller. The delay begins anew for all of that balance.
    function initiateWithdrawal(address token, uint256 value) external whenNotPaused tokenSupported(token) {
        if (value == 0) revert WithdrawalValueMustBePositive();
        if (value > availableBalance(token, msg.sender)) revert WithdrawalValueExceedsAvailableBalance();
        uint256 atBlock = block.number + _withdrawalDelay;
        (uint256 available, uint256 withdrawing) = _beginWithdrawal(token, msg.sender, value, atBlock);
        emit WithdrawalInitiated(token, msg.sender, value, available, withdrawing, atBlock);
    }

    /// @notice Pays out the withdrawing balance of the caller, from its block on.
    function withdraw(address token) external whenNotPaused tokenSupported(token) {
        if (withdrawalBlock(token, msg.sender) > block.number) revert WithdrawalNotYetAvailable();
        uint256 value = _endWithdrawal(token, msg.sender);
        IERC20(token).safeTransfer(msg.sender, value);
        emit WithdrawalCompleted(token, msg.sender, value);
    }

    /// @notice Sets the delay of withdrawals that start from now on.
    function updateWithdrawalDelay(uint256 newDelay) external onlyOwner {
        _setWithdrawalDelay(newDelay);
    }

    function _setWithdrawalDelay(uint256 newDelay) internal {
        emit WithdrawalDelayChanged(_withdrawalDelay, newDelay);
        _withdrawalDelay = newDelay;
    }
}
