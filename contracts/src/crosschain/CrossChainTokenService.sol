// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ITokenMessenger} from "./modules/Interfaces.sol";
import {PrepaidBurns} from "./modules/PrepaidBurns.sol";
import {Words} from "./modules/Words.sol";

/// @title CrossChainTokenService
/// @notice Moves tokens that an id names on all chains: it burns them by the token messenger, for callers who pay the fees beforehand:
/// see PrepaidBurns. The published clients call it for tokens other than USDC.
///
/// A message asks for its delivery where the quote has the fee for that. Nothing else stands in its hook data.
contract CrossChainTokenService is PrepaidBurns {
    /// @notice The token of this chain that an id names; zero for an id that is not known.
    mapping(bytes32 tokenId => address token) public tokenOf;

    event TokenSet(bytes32 indexed tokenId, address indexed token);
    event CrossChainTransfer(
        bytes32 indexed tokenId,
        address indexed sourceAddress,
        uint32 indexed destinationDomain,
        bytes destinationAddress,
        uint256 amount,
        bool autoExecuteHookData,
        bytes32 hookDataHash
    );

    error UnknownToken(bytes32 tokenId);
    error InvalidDestinationAddress();
    error HookDataUnsupported();

    /// @param tokens those that `tokenIds` name, in the same order
    constructor(
        ITokenMessenger tokenMessenger_,
        address owner_,
        address quoteSigner,
        bytes32[] memory tokenIds,
        address[] memory tokens
    ) PrepaidBurns(tokenMessenger_, owner_, quoteSigner) {
        require(tokenIds.length == tokens.length, "Tokens do not match their ids");
        for (uint256 index = 0; index < tokenIds.length; index++) _setToken(tokenIds[index], tokens[index]);
    }

    /// @notice Sets the token of this chain that an id names; the zero address ends its transfers.
    function setToken(bytes32 tokenId, address token) external onlyOwner {
        _setToken(tokenId, token);
    }

    /// @notice The contract that takes the tokens of an id, out of an allowance: this one.
    function resolveTokenManager(bytes32 tokenId) external view returns (address) {
        _requireToken(tokenId);
        return address(this);
    }

    /// @notice Burns `amount` of the caller's tokens, to be minted for `destinationAddress` on another chain, and pays the fees of the
    /// quote. Tokens, and fees in tokens, are taken out of allowances that the caller gave before; fees in native coins come with the call.
    /// @param destinationAddress an account there, of 20 bytes
    /// @param destinationCaller the only account that may deliver the message there; 0 admits any
    /// @param minFinalityThreshold 1000 where the quote has a fee for haste, or else 2000
    /// @param autoExecuteHookData false; and `hookData` is empty: messages carry no data of callers
    function crossChainTransfer(
        bytes32 tokenId,
        uint256 amount,
        uint32 destinationDomain,
        bytes calldata destinationAddress,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        QuoteClaim calldata claim,
        bool autoExecuteHookData,
        bytes calldata hookData
    ) external payable {
        if (autoExecuteHookData || hookData.length > 0) revert HookDataUnsupported();
        if (destinationAddress.length != 20) revert InvalidDestinationAddress();
        PaidBurn memory burn = PaidBurn(
            amount,
            destinationDomain,
            Words.fromAddress(address(bytes20(destinationAddress))),
            _requireToken(tokenId),
            destinationCaller,
            ""
        );
        _payAndBurn(
            burn,
            minFinalityThreshold,
            keccak256(abi.encode(destinationCaller, destinationAddress)),
            claim.signedQuote
        );
        _announce(tokenId, destinationAddress, burn);
    }

    function _announce(bytes32 tokenId, bytes calldata destinationAddress, PaidBurn memory burn) private {
        emit CrossChainTransfer(
            tokenId, msg.sender, burn.destinationDomain, destinationAddress, burn.amount, false, keccak256("")
        );
    }

    /// @dev `delivery` is the hash by which a quote names the delivery that it pays for. A burn for the executor of the destination would
    /// leave the tokens there: that uses the messages of other contracts.
    function _payAndBurn(
        PaidBurn memory burn,
        uint32 minFinalityThreshold,
        bytes32 delivery,
        bytes calldata signedQuote
    ) private {
        FeeQuote memory quote = _use(signedQuote);
        if (
            quote.amount != burn.amount || quote.destinationDomain != burn.destinationDomain
                || quote.burnToken != burn.burnToken
                || minFinalityThreshold != (quote.isFast ? CONFIRMED : FINALIZED)
                || (quote.executor != 0 && quote.executor == burn.mintRecipient)
                || (quote.isForwarded && quote.forwardArgs != delivery)
        ) revert QuoteArgsMismatch();
        if (quote.isForwarded) burn.hookData = abi.encodePacked(FORWARD, uint64(0));
        _pay(quote);
        _burn(burn, minFinalityThreshold);
    }

    function _setToken(bytes32 tokenId, address token) private {
        tokenOf[tokenId] = token;
        emit TokenSet(tokenId, token);
    }

    function _requireToken(bytes32 tokenId) private view returns (address token) {
        token = tokenOf[tokenId];
        if (token == address(0)) revert UnknownToken(tokenId);
    }

    function _quoteDomain() internal pure override returns (string memory) {
        return "CrossChainTokenService";
    }
}
