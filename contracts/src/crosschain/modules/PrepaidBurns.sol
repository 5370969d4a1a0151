// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

import {FeeQuotes} from "./FeeQuotes.sol";
import {ITokenMessenger} from "./Interfaces.sol";
import {Rescuable} from "./Rescuable.sol";

/// @title PrepaidBurns
/// @notice Burns for callers who pay the fees beside the amount, by a signed quote: all that is burned here is minted there.
///
/// A message that names such a contract as the one that burned was paid for: it asks for an attestation before finality only where the
/// quote has a fee for that, and its hook data asks for the delivery only where the quote has one for that.
///
/// @dev It holds tokens within a call only, and stands without a proxy. Messages name it as their sender: its rescuer can take out what
/// another contract returns to the sender.
abstract contract PrepaidBurns is FeeQuotes, Rescuable {
    using SafeERC20 for IERC20;

    /// @notice A quote as the service signed it: abi.encode(FeeQuote, bytes signature).
    /// @dev `refundAddress` is of clients that pay more than the quote says. Payments are exact here, and nothing is ever paid back.
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

    uint32 internal constant CONFIRMED = 1000;
    uint32 internal constant FINALIZED = 2000;
    /// @dev The beginning of hook data that asks for the delivery.
    bytes24 internal constant FORWARD = "cctp-forward";

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

    /// @dev Pays the fees of a quote, exactly: in native coins where the quote names no token, or else out of the caller's allowance.
    function _pay(FeeQuote memory quote) internal {
        uint256 total = quote.fastFee + quote.forwardFee;
        bool isNative = quote.feeToken == address(0);
        if (msg.value != (isNative ? total : 0)) revert IncorrectNativePayment();
        if (total > 0) {
            if (isNative) Address.sendValue(payable(quote.feeRecipient), total);
            else IERC20(quote.feeToken).safeTransferFrom(msg.sender, quote.feeRecipient, total);
        }
        emit FeesPaid(
            quote.nonce, msg.sender, quote.feeRecipient, quote.feeToken, quote.fastFee, quote.forwardFee
        );
    }

    /// @dev The messenger sees this contract as the depositor: the caller's own place on its list is looked up here.
    function _burn(PaidBurn memory burn, uint32 minFinalityThreshold) internal {
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
