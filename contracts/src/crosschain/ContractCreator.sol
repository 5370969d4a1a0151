// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title ContractCreator
/// @notice Creates contracts and sets them up in batches, each as a whole or not at all. The contracts that it creates are at
/// addresses that its own address and their order determine, whatever their code is.
/// @dev It stands at the same address on every chain where the deterministic deployer created it for the same owner.
contract ContractCreator {
    /// @notice A call of `target`, or the creation of a contract with the code `data` where that is the zero address.
    struct Step {
        address target;
        bytes data;
    }

    /// @notice The account that may run batches.
    address public immutable owner;
    /// @notice How many batches were run.
    uint256 public batches;

    constructor(address owner_) {
        require(owner_ != address(0), "Owner is the zero address");
        owner = owner_;
    }

    /// @notice Runs the batch with this number, counted from one: a repeated call changes nothing and reverts.
    function run(uint256 number, Step[] calldata steps) external {
        require(msg.sender == owner, "Caller is not the owner");
        require(number == batches + 1, "Another batch is next");
        batches = number;
        for (uint256 index = 0; index < steps.length; index++) {
            if (steps[index].target == address(0)) _create(steps[index].data);
            else _call(steps[index].target, steps[index].data);
        }
    }

    function _create(bytes memory code) private {
        address created;
        assembly ("memory-safe") {
            created := create(0, add(code, 0x20), mload(code))
            if iszero(created) {
                let reason := mload(0x40)
                returndatacopy(reason, 0, returndatasize())
                revert(reason, returndatasize())
            }
        }
    }

    function _call(address target, bytes memory data) private {
        (bool success, bytes memory reason) = target.call(data);
        if (success) return;
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }
}
