// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ExecutorHook} from "./modules/ExecutorHook.sol";
import {ITokenMessenger} from "./modules/Interfaces.sol";
import {PrepaidBurns} from "./modules/PrepaidBurns.sol";

/// @title TokenMessengerWithFees
/// @notice Burns for callers who pay the fees beforehand: see PrepaidBurns. The published clients of unified balances call it for
/// deposits on another chain.
contract TokenMessengerWithFees is PrepaidBurns {
    error ForwardFeeWithoutHook();
    error ForwardHookWithoutFee();

    constructor(ITokenMessenger tokenMessenger_, address owner_, address quoteSigner)
        PrepaidBurns(tokenMessenger_, owner_, quoteSigner)
    {}

    /// @notice Burns `amount` of the caller's tokens, and pays the fees of the quote, out of an allowance that the caller gave before.
    function depositForBurnWithFees(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        QuoteClaim calldata claim
    ) external payable {
        _payAndBurn(
            PaidBurn(amount, destinationDomain, mintRecipient, burnToken, destinationCaller, ""),
            msg.data[:0],
            claim
        );
    }

    /// @notice The same, with `hookData` in the message.
    function depositForBurnWithHookAndFees(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        bytes calldata hookData,
        QuoteClaim calldata claim
    ) external payable {
        require(hookData.length > 0, "Hook data is empty");
        _payAndBurn(
            PaidBurn(amount, destinationDomain, mintRecipient, burnToken, destinationCaller, hookData),
            hookData,
            claim
        );
    }

    /// @dev `hookData` is that of the burn, from where parts of it can be read.
    function _payAndBurn(PaidBurn memory burn, bytes calldata hookData, QuoteClaim calldata claim) private {
        FeeQuote memory quote = _use(claim.signedQuote);
        _requireBound(quote, burn);
        _requireExecutable(quote.executor, burn, hookData);
        _pay(quote);
        _burn(burn, quote.isFast ? CONFIRMED : FINALIZED);
    }

    function _requireBound(FeeQuote memory quote, PaidBurn memory burn) private pure {
        if (
            quote.amount != burn.amount || quote.destinationDomain != burn.destinationDomain
                || quote.burnToken != burn.burnToken
        ) revert QuoteArgsMismatch();
        if (quote.isForwarded && !_asksToForward(burn.hookData)) revert ForwardFeeWithoutHook();
        if (!quote.isForwarded && _asksToForward(burn.hookData)) revert ForwardHookWithoutFee();
        if (
            quote.isForwarded
                && quote.forwardArgs != keccak256(abi.encode(burn.destinationCaller, burn.hookData))
        ) revert QuoteArgsMismatch();
    }

    /// @dev The executor returns what it cannot use to the sender of the burn where the hook data names no account. That would be this
    /// contract: so it burns for an executor only what that can deliver, mint for itself and read.
    function _requireExecutable(bytes32 executor, PaidBurn memory burn, bytes calldata hookData) private pure {
        if (executor == 0 || (burn.destinationCaller != executor && burn.mintRecipient != executor)) return;
        if (burn.destinationCaller != burn.mintRecipient) revert QuoteArgsMismatch();
        ExecutorHook.callIn(hookData);
    }

    function _asksToForward(bytes memory hookData) private pure returns (bool) {
        return hookData.length >= 24 && bytes24(hookData) == FORWARD;
    }

    function _quoteDomain() internal pure override returns (string memory) {
        return "TokenMessengerWithFees";
    }
}
