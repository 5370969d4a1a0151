// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title FreeGasPriceOracle
/// @notice The interface of the OP stack's oracle of the fee for data, on a chain without a parent: data cost nothing.
/// @dev Without a constructor and without state: a genesis file may place the runtime code at any address.
contract FreeGasPriceOracle {
    string public constant version = "1.4.0";
    bool public constant isEcotone = true;
    bool public constant isFjord = true;
    uint256 public constant decimals = 6;
    uint256 public constant l1BaseFee = 0;
    uint256 public constant blobBaseFee = 0;
    uint32 public constant baseFeeScalar = 0;
    uint32 public constant blobBaseFeeScalar = 0;

    function gasPrice() external view returns (uint256) {
        return block.basefee;
    }

    function baseFee() external view returns (uint256) {
        return block.basefee;
    }

    function getL1Fee(bytes calldata) external pure returns (uint256) {
        return 0;
    }

    function getL1FeeUpperBound(uint256) external pure returns (uint256) {
        return 0;
    }

    function getL1GasUsed(bytes calldata) external pure returns (uint256) {
        return 0;
    }
}
