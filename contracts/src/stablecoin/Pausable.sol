// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "./Ownable.sol";

/// @title Pausable
/// @notice The pauser can stop everything that moves money or permission to move it; roles can still be changed.
abstract contract Pausable is Ownable {
    address private _pauser;
    // Shares the slot of `_pauser`, so that the check on every transfer stays one cold read.
    bool private _paused;

    event Pause();
    event Unpause();
    event PauserChanged(address indexed newAddress);

    modifier whenNotPaused() {
        _requireNotPaused();
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

    /// @notice Whether the token is stopped.
    function paused() external view returns (bool) {
        return _paused;
    }

    /// @notice Stops transfers, approvals, minting, burning and authorisations. Pausing twice is harmless.
    function pause() external onlyPauser {
        _paused = true;
        emit Pause();
    }

    /// @notice Lets everything move again.
    function unpause() external onlyPauser {
        _paused = false;
        emit Unpause();
    }

    /// @notice Appoints the pauser.
    function updatePauser(address newPauser) external onlyOwner {
        require(newPauser != address(0), "Pausable: new pauser is the zero address");
        _setPauser(newPauser);
    }

    // A function, because the body of a modifier is copied into every function that carries it.
    function _requireNotPaused() private view {
        require(!_paused, "Pausable: paused");
    }

    function _setPauser(address newPauser) internal {
        _pauser = newPauser;
        emit PauserChanged(newPauser);
    }
}
