// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {Burns} from "./Burns.sol";

/// @title BatchedPayments
/// @notice Moves balances between depositors of this chain: the sum of many payments, each of which its payer signed for the service.
/// @dev The signatures of payers are not checked here: only the sums are known, which is what makes small payments worth their gas. A
/// burn signer answers for them, as it does for which transfers are burned.
abstract contract BatchedPayments is Burns {
    event PaymentsDebited(
        address indexed token,
        address indexed depositor,
        bytes32 indexed batch,
        uint256 fromAvailable,
        uint256 fromWithdrawing
    );
    event PaymentsCredited(
        address indexed token, address indexed depositor, bytes32 indexed batch, uint256 value
    );
    event PaymentsSettled(address indexed token, bytes32 indexed batch, uint256 value);

    error MismatchedPayments();
    error PaymentsExceedBalance(address depositor, uint256 value, uint256 balance);

    /// @notice Tells services that this contract settles payments, which earlier versions do not.
    function paymentsVersion() external pure returns (uint256) {
        return 1;
    }

    /// @notice Settles a batch of payments, all or none, and once.
    /// @param calldataBytes abi.encode(uint32 domain, address wallet, bytes32 batch, address token, address[] payers, uint256[] debits,
    /// address[] payees, uint256[] credits): what each payer pays more than it receives, and each payee receives more than it pays
    /// @param signature a burn signer's, over the personal-message hash of keccak256(calldataBytes)
    function settlePayments(bytes calldata calldataBytes, bytes calldata signature) external whenNotPaused {
        bytes32 digest = MessageHashUtils.toEthSignedMessageHash(keccak256(calldataBytes));
        if (!isBurnSigner(ECDSA.recover(digest, signature))) revert InvalidBurnSigner();
        (
            uint32 ofDomain,
            address wallet,
            bytes32 batch,
            address token,
            address[] memory payers,
            uint256[] memory debits,
            address[] memory payees,
            uint256[] memory credits
        ) = abi.decode(
            calldataBytes,
            (uint32, address, bytes32, address, address[], uint256[], address[], uint256[])
        );
        if (ofDomain != domain() || wallet != address(this)) revert MismatchedPayments();
        if (payers.length != debits.length || payees.length != credits.length) revert MismatchedPayments();
        if (!isTokenSupported(token)) revert UnsupportedToken(token);
        _use(batch);
        uint256 value = _debitAll(token, batch, payers, debits);
        if (value != _creditAll(token, batch, payees, credits)) revert MismatchedPayments();
        emit PaymentsSettled(token, batch, value);
    }

    function _debitAll(address token, bytes32 batch, address[] memory payers, uint256[] memory debits)
        private
        returns (uint256 total)
    {
        for (uint256 i = 0; i < payers.length; ++i) {
            (uint256 fromAvailable, uint256 fromWithdrawing) = _debit(token, payers[i], debits[i]);
            if (fromAvailable + fromWithdrawing < debits[i]) {
                revert PaymentsExceedBalance(payers[i], debits[i], fromAvailable + fromWithdrawing);
            }
            total += debits[i];
            emit PaymentsDebited(token, payers[i], batch, fromAvailable, fromWithdrawing);
        }
    }

    function _creditAll(address token, bytes32 batch, address[] memory payees, uint256[] memory credits)
        private
        returns (uint256 total)
    {
        for (uint256 i = 0; i < payees.length; ++i) {
            _credit(token, payees[i], credits[i]);
            total += credits[i];
            emit PaymentsCredited(token, payees[i], batch, credits[i]);
        }
    }
}
