// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {TwoStepOwnable} from "./TwoStepOwnable.sol";

/// @title FeeQuotes
/// @notice Quotes of fees that a signer of the attestation service signed (EIP-712). Each is for one burn on this chain, up to a time.
abstract contract FeeQuotes is TwoStepOwnable {
    /// @notice What a burn pays before it happens, and the burn that it is for.
    /// @dev `isFast` pays for an attestation before finality, `isForwarded` for the delivery of a message with the caller and the hook
    /// data of `forwardArgs`: keccak256(abi.encode(bytes32 destinationCaller, bytes hookData)). `executor` is the executor of the
    /// destination, zero where the signer knows none. `feeToken` is zero where native coins pay.
    struct FeeQuote {
        uint256 amount;
        uint32 destinationDomain;
        address burnToken;
        address feeToken;
        address feeRecipient;
        bool isFast;
        uint256 fastFee;
        bool isForwarded;
        uint256 forwardFee;
        bytes32 forwardArgs;
        bytes32 executor;
        uint256 nonce;
        uint256 expiresAt;
    }

    bytes32 private constant DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant QUOTE_TYPE = keccak256(
        "FeeQuote(uint256 amount,uint32 destinationDomain,address burnToken,address feeToken,address feeRecipient,bool isFast,uint256 fastFee,bool isForwarded,uint256 forwardFee,bytes32 forwardArgs,bytes32 executor,uint256 nonce,uint256 expiresAt)"
    );

    /// @notice Whether the signatures of an account count.
    mapping(address account => bool) public isQuoteSigner;
    /// @notice Whether a burn has paid by the quote with a nonce.
    mapping(uint256 nonce => bool) public isQuoteUsed;

    event QuoteSignerAdded(address indexed signer);
    event QuoteSignerRemoved(address indexed signer);

    error InvalidQuoteSigner(address signer);
    error QuoteExpired(uint256 expiresAt);
    error QuoteUsed(uint256 nonce);

    /// @notice Lets the signatures of an account count.
    function addQuoteSigner(address signer) external onlyOwner {
        _addQuoteSigner(signer);
    }

    /// @notice Ends that, also for what the account signed before.
    function removeQuoteSigner(address signer) external onlyOwner {
        isQuoteSigner[signer] = false;
        emit QuoteSignerRemoved(signer);
    }

    function _addQuoteSigner(address signer) internal {
        require(signer != address(0), "Quote signer is the zero address");
        isQuoteSigner[signer] = true;
        emit QuoteSignerAdded(signer);
    }

    /// @dev Takes abi.encode(FeeQuote, bytes signature), once.
    function _use(bytes calldata signedQuote) internal returns (FeeQuote memory quote) {
        bytes memory signature;
        (quote, signature) = abi.decode(signedQuote, (FeeQuote, bytes));
        address signer = ECDSA.recover(_digestOf(quote), signature);
        if (!isQuoteSigner[signer]) revert InvalidQuoteSigner(signer);
        if (block.timestamp > quote.expiresAt) revert QuoteExpired(quote.expiresAt);
        if (isQuoteUsed[quote.nonce]) revert QuoteUsed(quote.nonce);
        isQuoteUsed[quote.nonce] = true;
    }

    /// @dev The name of the contract in the domain (EIP-712) of its quotes.
    function _quoteDomain() internal pure virtual returns (string memory);

    /// @dev The domain is made anew each time: the contract has no state that a constructor of the library would have to leave.
    function _digestOf(FeeQuote memory quote) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPE,
                keccak256(bytes(_quoteDomain())),
                keccak256("1"),
                block.chainid,
                address(this)
            )
        );
        return MessageHashUtils.toTypedDataHash(domain, keccak256(abi.encode(QUOTE_TYPE, quote)));
    }
}
