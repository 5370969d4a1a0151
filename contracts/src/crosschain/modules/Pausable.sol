// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {TwoStepOwnable} from "./TwoStepOwnable.sol";

/// @title Pausable
/// @notice The pauser can stop messages, burns and mints; roles can still be changed.
abstract contract Pausable is TwoStepOwnable {
    address private _pauser;
    bool private _paused;

    event Pause();
    event Unpause();
    event PauserChanged(address indexed newAddress);

    modifier whenNotPaused() {
        require(!_paused, "Pausable: paused");
        _;
    }

    modifier onlyPauser() {
        require(msg.sender == _pauser, "Pausable: caller is not the pauser");
        _;
    }

    /// @notice The account that can pause and unpause.
    function pauser() external view returns (address) {
        return _pauser;
    }

    /// @notice Whether the contract is stopped.
    function paused() external view returns (bool) {
        return _paused;
    }

    /// @notice Stops the contract. Pausing twice is harmless.
    function pause() external onlyPauser {
        _paused = true;
        emit Pause();
    }

    /// @notice Lets it go on.
    function unpause() external onlyPauser {
        _paused = false;
        emit Unpause();
    }

    /// @notice Appoints the pauser.
    function updatePauser(address newPauser) external onlyOwner {
        _setPauser(newPauser);
    }

    function _setPauser(address newPauser) internal {
        require(newPauser != address(0), "Pausable: new pauser is the zero address");
        _pauser = newPauser;
        emit PauserChanged(newPauser);
    }
}
