// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title FeeOnTransferToken
/// @notice Hostile: burns 1 % of every transfer, so the payee gets less than the caller asked to send. Its logs are
/// honest (one Transfer for what arrives, one for the fee); any account may mint.
contract FeeOnTransferToken is ERC20("Fee Token", "FEE") {
    /// @notice The share that is burned, in hundredths of a percent.
    uint256 public constant FEE_BASIS_POINTS = 100;

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice Creates `value` in the account of `to`.
    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    function _update(address from, address to, uint256 value) internal override {
        if (from == address(0) || to == address(0)) {
            super._update(from, to, value);
            return;
        }
        uint256 fee = (value * FEE_BASIS_POINTS) / 10_000;
        super._update(from, address(0), fee);
        super._update(from, to, value - fee);
    }
}
