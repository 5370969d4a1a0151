// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title ReentrantToken
/// @notice Hostile: calls an address of its master's choice in the middle of each transfer, after the payer was debited
/// and before the payee is credited. Any account may mint and arm it.
contract ReentrantToken is ERC20("Reentrant Token", "REENTER") {
    address private _target;
    bytes private _payload;
    bool private _entered;

    /// @notice The hook's call failed with `reason`; the transfer fails with it.
    error HookFailed(bytes reason);

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice Creates `value` in the account of `to`.
    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    /// @notice From now on each transfer calls `target` with `payload`; the zero address disarms.
    function arm(address target, bytes calldata payload) external {
        _target = target;
        _payload = payload;
    }

    /// @notice Moves `value` to `to`, with the armed call in between.
    function transfer(address to, uint256 value) public override returns (bool) {
        if (_target == address(0) || _entered) return super.transfer(to, value);
        _burn(msg.sender, value);
        _entered = true;
        (bool success, bytes memory reason) = _target.call(_payload);
        _entered = false;
        if (!success) revert HookFailed(reason);
        _mint(to, value);
        return true;
    }
}
