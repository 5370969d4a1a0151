// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {TwoStepOwnable} from "./TwoStepOwnable.sol";

/// @title Rescuable
/// @notice The rescuer takes out tokens that were sent to the contract by mistake; no token is kept here otherwise.
abstract contract Rescuable is TwoStepOwnable {
    using SafeERC20 for IERC20;

    address private _rescuer;

    event RescuerChanged(address indexed newRescuer);

    /// @notice The account that can take tokens out.
    function rescuer() external view returns (address) {
        return _rescuer;
    }

    /// @notice Sends `amount` of the token, in its smallest units, from this contract to `to`.
    function rescueERC20(IERC20 tokenContract, address to, uint256 amount) external {
        require(msg.sender == _rescuer, "Rescuable: caller is not the rescuer");
        tokenContract.safeTransfer(to, amount);
    }

    /// @notice Appoints the rescuer.
    function updateRescuer(address newRescuer) external onlyOwner {
        _setRescuer(newRescuer);
    }

    function _setRescuer(address newRescuer) internal {
        require(newRescuer != address(0), "Rescuable: new rescuer is the zero address");
        _rescuer = newRescuer;
        emit RescuerChanged(newRescuer);
    }
}
