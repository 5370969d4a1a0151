// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {IDepositToken} from "./GatewayTokens.sol";
import {Holdings} from "./Holdings.sol";

/// @title Deposits
/// @notice Moves tokens into the wallet and credits a depositor: with an allowance, for another account, with a permit
/// (EIP-2612, ERC-7597), or with an authorization (EIP-3009, ERC-7598). Signatures of contracts are the token's affair.
/// @dev A token must deliver the whole value or revert: no fee on transfer.
abstract contract Deposits is Holdings {
    using SafeERC20 for IERC20;

    event Deposited(address indexed token, address indexed depositor, address indexed sender, uint256 value);

    error DepositValueMustBePositive();
    error DepositorIsBlacklisted(address depositor);

    /// @dev The conditions of every deposit. The caller and the depositor must not be denied.
    modifier acceptsDeposit(address token, address depositor, uint256 value) {
        _requireNotPaused();
        _requireNotDenylisted(msg.sender);
        _requireNotDenylisted(depositor);
        if (!isTokenSupported(token)) revert UnsupportedToken(token);
        if (value == 0) revert DepositValueMustBePositive();
        _;
    }

    /// @notice Deposits out of the allowance that the caller gave this wallet.
    function deposit(address token, uint256 value) external acceptsDeposit(token, msg.sender, value) {
        _pull(token, msg.sender, msg.sender, value);
    }

    /// @notice Deposits the caller's tokens into the balance of `depositor`.
    function depositFor(address token, address depositor, uint256 value)
        external
        acceptsDeposit(token, depositor, value)
    {
        _requireNotZero(depositor);
        if (IDepositToken(token).isBlacklisted(depositor)) revert DepositorIsBlacklisted(depositor);
        _pull(token, depositor, msg.sender, value);
    }

    /// @notice Deposits the tokens of `owner` by its permit; any account may call.
    function depositWithPermit(
        address token,
        address owner,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external acceptsDeposit(token, owner, value) {
        _permit(token, owner, value, deadline, abi.encodePacked(r, s, v));
    }

    /// @notice As above, with the signature in one piece; a contract's may have any form.
    function depositWithPermit(address token, address owner, uint256 value, uint256 deadline, bytes calldata signature)
        external
        acceptsDeposit(token, owner, value)
    {
        _permit(token, owner, value, deadline, signature);
    }

    /// @notice Deposits the tokens of `from` by its ReceiveWithAuthorization to this wallet; any account may call.
    function depositWithAuthorization(
        address token,
        address from,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external acceptsDeposit(token, from, value) {
        _receive(token, from, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    /// @notice As above, with the signature in one piece; a contract's may have any form.
    function depositWithAuthorization(
        address token,
        address from,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external acceptsDeposit(token, from, value) {
        _receive(token, from, value, validAfter, validBefore, nonce, signature);
    }

    function _permit(address token, address owner, uint256 value, uint256 deadline, bytes memory signature) private {
        IDepositToken(token).permit(owner, address(this), value, deadline, signature);
        _pull(token, owner, owner, value);
    }

    function _receive(
        address token,
        address from,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) private {
        IDepositToken(token).receiveWithAuthorization(
            from, address(this), value, validAfter, validBefore, nonce, signature
        );
        _book(token, from, from, value);
    }

    function _pull(address token, address depositor, address sender, uint256 value) private {
        IERC20(token).safeTransferFrom(sender, address(this), value);
        _book(token, depositor, sender, value);
    }

    function _book(address token, address depositor, address sender, uint256 value) private {
        _credit(token, depositor, value);
        emit Deposited(token, depositor, sender, value);
    }
}
