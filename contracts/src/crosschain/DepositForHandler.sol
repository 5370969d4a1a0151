// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {IHookHandler} from "./modules/Interfaces.sol";

/// @title DepositForHandler
/// @notice Pays what it was given into a contract for another account, such as the wallet contract of unified balances.
/// @dev It holds tokens within a call only. The executor alone calls it, with one token: a stranger who calls it, or has it call a
/// token that it is not for, could have it give an allowance that outlasts the call.
contract DepositForHandler is IHookHandler {
    using SafeERC20 for IERC20;

    /// @notice The contract that brings the tokens.
    address public immutable executor;
    /// @notice The token that it brings.
    IERC20 public immutable token;

    error OnlyExecutor();
    error OtherToken();
    error AmountOutside(uint256 place);
    error DepositRefused();
    error DepositIncomplete();

    constructor(address executor_, IERC20 token_) {
        require(executor_ != address(0), "Executor not set");
        require(address(token_) != address(0), "Token not set");
        executor = executor_;
        token = token_;
    }

    /// @inheritdoc IHookHandler
    /// @param data abi.encode(address depositContract, address approvalTarget, bytes depositCall, uint256[] amountPlaces): the
    /// contract and its call, in which the amount is written at each of these places, and the account that takes the tokens.
    function handle(IERC20 token_, uint256 amount, bytes calldata data) external {
        if (msg.sender != executor) revert OnlyExecutor();
        if (address(token_) != address(token)) revert OtherToken();
        uint256 held = token.balanceOf(address(this));
        (
            address depositContract,
            address approvalTarget,
            bytes memory depositCall,
            uint256[] memory amountPlaces
        ) = abi.decode(data, (address, address, bytes, uint256[]));
        for (uint256 index = 0; index < amountPlaces.length; ++index) {
            _write(depositCall, amountPlaces[index], amount);
        }
        // An allowance that a call of the token gives would outlast this one.
        if (depositContract == address(token)) revert DepositRefused();
        token.forceApprove(approvalTarget, amount);
        (bool success,) = depositContract.call(depositCall);
        if (!success || depositContract.code.length == 0) revert DepositRefused();
        token.forceApprove(approvalTarget, 0);
        if (token.balanceOf(address(this)) + amount != held) revert DepositIncomplete();
    }

    function _write(bytes memory depositCall, uint256 place, uint256 amount) private pure {
        if (depositCall.length < 32 || place > depositCall.length - 32) revert AmountOutside(place);
        assembly ("memory-safe") {
            mstore(add(add(depositCall, 0x20), place), amount)
        }
    }
}
