// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title FalseReturningToken
/// @notice Hostile: a transfer that fails returns false instead of reverting, so its transaction succeeds on chain
/// though nothing moved and no log was written. Any account may mint.
contract FalseReturningToken is ERC20("False Token", "FALSE") {
    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice Creates `value` in the account of `to`.
    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    /// @notice Moves `value` to `to`, or returns false.
    function transfer(address to, uint256 value) public override returns (bool) {
        if (to == address(0) || balanceOf(msg.sender) < value) return false;
        return super.transfer(to, value);
    }

    /// @notice Moves `value` from `from` to `to`, or returns false.
    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        bool possible = from != address(0) && to != address(0) && balanceOf(from) >= value;
        if (!possible || allowance(from, msg.sender) < value) return false;
        return super.transferFrom(from, to, value);
    }
}
