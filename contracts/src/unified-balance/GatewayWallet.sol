// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {BatchedPayments} from "./parts/BatchedPayments.sol";
import {Deposits} from "./parts/Deposits.sol";
import {Withdrawals} from "./parts/Withdrawals.sol";

/// @title GatewayWallet
/// @notice Holds the deposits of unified balances on one chain, until they are withdrawn or burned for a mint elsewhere.
///
/// GatewayBase   owner, pauser, denylister, supported tokens, domain, used transfers
/// Holdings      the available and the withdrawing balance of each depositor
/// Delegates     who signs for a depositor
/// Deposits      five ways in
/// Withdrawals   the way back on the same chain, after a delay in blocks
/// Burns         the way out by signed intents
/// BatchedPayments  from one depositor to another, many payments at once
///
/// @dev The order of bases fixes the storage layout; a genesis writer relies on the layout generated from it.
contract GatewayWallet is Deposits, Withdrawals, BatchedPayments {
    /// @notice Appoints the roles, once. The caller, which is the account that creates the proxy, becomes the owner.
    /// @param withdrawalDelay_ blocks between the start and the end of a withdrawal
    function initialize(
        address pauser_,
        address denylister_,
        address[] calldata supportedTokens_,
        uint32 domain_,
        uint256 withdrawalDelay_,
        address burnSigner_,
        address feeRecipient_
    ) external initializer {
        _initializeBase(pauser_, denylister_, supportedTokens_, domain_);
        _setWithdrawalDelay(withdrawalDelay_);
        _setBurnSigner(burnSigner_, true);
        _setFeeRecipient(feeRecipient_);
    }
}
