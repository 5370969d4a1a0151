// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

import {ExecutorHook} from "./modules/ExecutorHook.sol";
import {FeeQuotes} from "./modules/FeeQuotes.sol";
import {ITokenMessenger} from "./modules/Interfaces.sol";
import {Rescuable} from "./modules/Rescuable.sol";

/// @title TokenMessengerWithFees
/// @notice Burns for a caller who pays the fees beside the amount, by a signed quote: all that is burned here is minted there. The
/// published clients of unified balances call it for deposits on another chain.
///
/// A message that names this contract as the one that burned was paid for: it asks for an attestation before finality only where the
/// quote has a fee for that, and its hook data asks for the delivery only where the quote has one for that.
///
/// @dev It holds tokens within a call only, and stands without a proxy. Messages name it as their sender: its rescuer can take out what
/// another contract returns to the sender.
contract TokenMessengerWithFees is FeeQuotes, Rescuable {
    using SafeERC20 for IERC20;

    /// @notice A quote as the service signed it: abi.encode(FeeQuote, bytes signature).
    /// @dev `refundAddress` is of clients that pay in native coins. Payments are exact here, and nothing is ever paid back.
    struct QuoteClaim {
        bytes signedQuote;
        address refundAddress;
    }

    /// @dev The arguments of a burn in one place: they are more than the stack holds.
    struct PaidBurn {
        uint256 amount;
        uint32 destinationDomain;
        bytes32 mintRecipient;
        address burnToken;
        bytes32 destinationCaller;
        bytes hookData;
    }

    uint32 private constant CONFIRMED = 1000;
    uint32 private constant FINALIZED = 2000;
    /// @dev The beginning of hook data that asks for the delivery.
    bytes24 private constant FORWARD = "cctp-forward";

    /// @notice The token messenger that burns.
    ITokenMessenger public immutable tokenMessenger;

    event FeesPaid(
        uint256 indexed nonce,
        address indexed payer,
        address indexed feeRecipient,
        address feeToken,
        uint256 fastFee,
        uint256 forwardFee
    );

    error IncorrectNativePayment();
    error ForwardFeeWithoutHook();
    error ForwardHookWithoutFee();
    error QuoteArgsMismatch();

    constructor(ITokenMessenger tokenMessenger_, address owner_, address quoteSigner) {
        require(address(tokenMessenger_) != address(0), "TokenMessenger not set");
        require(owner_ != address(0), "Owner is the zero address");
        tokenMessenger = tokenMessenger_;
        _setOwner(owner_);
        _setRescuer(owner_);
        _addQuoteSigner(quoteSigner);
    }

    /// @notice The contract that takes the fees: this one.
    function feeManager() external view returns (address) {
        return address(this);
    }

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
        if (msg.value != 0) revert IncorrectNativePayment();
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

    function _pay(FeeQuote memory quote) private {
        uint256 total = quote.fastFee + quote.forwardFee;
        if (total > 0) IERC20(quote.feeToken).safeTransferFrom(msg.sender, quote.feeRecipient, total);
        emit FeesPaid(
            quote.nonce, msg.sender, quote.feeRecipient, quote.feeToken, quote.fastFee, quote.forwardFee
        );
    }

    function _asksToForward(bytes memory hookData) private pure returns (bool) {
        return hookData.length >= 24 && bytes24(hookData) == FORWARD;
    }

    /// @dev The messenger sees this contract as the depositor: the caller's own place on its list is looked up here.
    function _burn(PaidBurn memory burn, uint32 minFinalityThreshold) private {
        require(!tokenMessenger.isDenylisted(msg.sender), "Denylistable: account is on denylist");
        IERC20 token = IERC20(burn.burnToken);
        token.safeTransferFrom(msg.sender, address(this), burn.amount);
        token.forceApprove(address(tokenMessenger), burn.amount);
        if (burn.hookData.length == 0) {
            tokenMessenger.depositForBurn(
                burn.amount,
                burn.destinationDomain,
                burn.mintRecipient,
                burn.burnToken,
                burn.destinationCaller,
                0,
                minFinalityThreshold
            );
        } else {
            tokenMessenger.depositForBurnWithHook(
                burn.amount,
                burn.destinationDomain,
                burn.mintRecipient,
                burn.burnToken,
                burn.destinationCaller,
                0,
                minFinalityThreshold,
                burn.hookData
            );
        }
    }
}
