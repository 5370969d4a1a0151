// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {BurnIntentHash} from "./BurnIntentHash.sol";
import {Delegates} from "./Delegates.sol";
import {IDepositToken} from "./GatewayTokens.sol";
import {Holdings} from "./Holdings.sol";
import {Transfer, TransferBytes, TransferSpec} from "./TransferBytes.sol";

/// @title Burns
/// @notice Burns balances whose depositors signed a burn intent, after the service minted the value on another chain.
/// @dev The domain of signatures names neither chain nor contract: one signature covers a set of intents of many chains.
/// The intents themselves name both.
abstract contract Burns is Holdings, Delegates, IERC5267 {
    using SafeERC20 for IERC20;

    /// keccak256("EIP712Domain(string name,string version)")
    // solhint-disable-next-line var-name-mixedcase
    bytes32 public constant EIP712_DOMAIN_TYPE_HASH =
        0xb03948446334eb9b2196d5eb166f69b9d49403eb4a12f36de8d3f9f3cb8e15c3;
    string private constant _NAME = "GatewayWallet";
    string private constant _VERSION = "1";

    mapping(address signer => bool) private _burnSigners;
    address private _feeRecipient;
    mapping(address signer => bool) private _contractSignatureSigners;

    event GatewayBurned(
        address indexed token,
        address indexed depositor,
        bytes32 indexed transferSpecHash,
        uint32 destinationDomain,
        bytes32 destinationRecipient,
        address signer,
        uint256 value,
        uint256 fee,
        uint256 fromAvailable,
        uint256 fromWithdrawing
    );
    event InsufficientBalance(
        address indexed token,
        address indexed depositor,
        uint256 value,
        uint256 availableBalance,
        uint256 withdrawingBalance
    );
    event BurnSignerAdded(address indexed signer);
    event BurnSignerRemoved(address indexed signer);
    event ContractSignatureSignerAdded(address indexed signer);
    event ContractSignatureSignerRemoved(address indexed signer);
    event FeeRecipientChanged(address indexed oldFeeRecipient, address indexed newFeeRecipient);

    error InvalidBurnSigner();
    error MustHaveAtLeastOneBurnIntent();
    error MismatchedBurn();
    error NoRelevantBurnIntents();
    error NotAllSameToken();
    error IntentValueMustBePositiveAtIndex(uint32 index);
    error IntentExpiredAtIndex(uint32 index, uint256 maxBlockHeight, uint256 currentBlock);
    error BurnFeeTooHighAtIndex(uint32 index, uint256 maxFee, uint256 actualFee);
    error InvalidIntentSourceContractAtIndex(uint32 index, address intentContract, address expectedContract);
    error InvalidIntentSourceSignerAtIndex(uint32 index, address intentSigner, address actualSigner);

    function isBurnSigner(address signer) public view returns (bool) {
        return _burnSigners[signer];
    }

    /// @notice Whether `signer` signs intents in the name of contracts, whose signatures it checked by ERC-1271.
    function isContractSignatureSigner(address signer) public view returns (bool) {
        return _contractSignatureSigners[signer];
    }

    /// @notice The account that receives the fees of burns.
    function feeRecipient() external view returns (address) {
        return _feeRecipient;
    }

    function domainSeparator() public pure returns (bytes32) {
        return keccak256(abi.encode(EIP712_DOMAIN_TYPE_HASH, keccak256(bytes(_NAME)), keccak256(bytes(_VERSION))));
    }

    /// @inheritdoc IERC5267
    function eip712Domain()
        external
        pure
        returns (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        )
    {
        (fields, name, version) = (hex"03", _NAME, _VERSION);
        (chainId, verifyingContract, salt, extensions) = (0, address(0), 0, new uint256[](0));
    }

    /// @notice The EIP-712 struct hash of an encoded BurnIntent or BurnIntentSet.
    function getTypedDataHash(bytes calldata intent) external pure returns (bytes32) {
        (Transfer[] memory intents, bool isSet) = TransferBytes.readBurnIntents(intent);
        return BurnIntentHash.hashOf(intents, isSet);
    }

    /// @notice Burns the intents of this domain; all of them or none.
    /// @param calldataBytes abi.encode(bytes[] intents, bytes[] signatures, uint256[][] fees): each entry of `intents` is a
    /// BurnIntent or BurnIntentSet with the signature of its signer, or of a contract signature signer where that is a
    /// contract, and one fee for each of its intents
    /// @param signature a burn signer's, over the personal-message hash of keccak256(calldataBytes)
    function gatewayBurn(bytes calldata calldataBytes, bytes calldata signature) external whenNotPaused {
        bytes32 digest = MessageHashUtils.toEthSignedMessageHash(keccak256(calldataBytes));
        if (!isBurnSigner(ECDSA.recover(digest, signature))) revert InvalidBurnSigner();
        (bytes[] memory payloads, bytes[] memory signatures, uint256[][] memory fees) =
            abi.decode(calldataBytes, (bytes[], bytes[], uint256[][]));
        if (payloads.length == 0) revert MustHaveAtLeastOneBurnIntent();
        if (signatures.length != payloads.length || fees.length != payloads.length) revert MismatchedBurn();
        for (uint256 i = 0; i < payloads.length; ++i) {
            _burnPayload(payloads[i], signatures[i], fees[i]);
        }
    }

    function addBurnSigner(address signer) external onlyOwner {
        _setBurnSigner(signer, true);
    }

    function removeBurnSigner(address signer) external onlyOwner {
        _setBurnSigner(signer, false);
    }

    function addContractSignatureSigner(address signer) external onlyOwner {
        _setContractSignatureSigner(signer, true);
    }

    function removeContractSignatureSigner(address signer) external onlyOwner {
        _setContractSignatureSigner(signer, false);
    }

    function updateFeeRecipient(address newFeeRecipient) external onlyOwner {
        _setFeeRecipient(newFeeRecipient);
    }

    function _setBurnSigner(address signer, bool isSigner) internal {
        _requireNotZero(signer);
        _burnSigners[signer] = isSigner;
        if (isSigner) emit BurnSignerAdded(signer);
        else emit BurnSignerRemoved(signer);
    }

    function _setContractSignatureSigner(address signer, bool isSigner) private {
        _requireNotZero(signer);
        _contractSignatureSigners[signer] = isSigner;
        if (isSigner) emit ContractSignatureSignerAdded(signer);
        else emit ContractSignatureSignerRemoved(signer);
    }

    function _setFeeRecipient(address newFeeRecipient) internal {
        _requireNotZero(newFeeRecipient);
        emit FeeRecipientChanged(_feeRecipient, newFeeRecipient);
        _feeRecipient = newFeeRecipient;
    }

    /// @dev Balances without anything to take count as not relevant: there would be nothing to burn.
    function _burnPayload(bytes memory payload, bytes memory signature, uint256[] memory fees) private {
        (Transfer[] memory intents, bool isSet) = TransferBytes.readBurnIntents(payload);
        if (intents.length == 0) revert MustHaveAtLeastOneBurnIntent();
        if (fees.length != intents.length) revert MismatchedBurn();
        address recovered = _recover(intents, isSet, signature);

        address token;
        uint256 burned;
        uint256 charged;
        for (uint32 i = 0; i < intents.length; ++i) {
            // A set without value in one place fails on all chains alike.
            if (intents[i].spec.value == 0) revert IntentValueMustBePositiveAtIndex(i);
            if (intents[i].spec.sourceDomain != domain()) continue;
            address signer = _requireBurnable(intents[i], recovered, fees[i], i);
            address ofIntent = _toAddress(intents[i].spec.sourceToken);
            if (token == address(0)) token = ofIntent;
            else if (token != ofIntent) revert NotAllSameToken();
            (uint256 value, uint256 fee) = _take(intents[i], signer, fees[i]);
            burned += value;
            charged += fee;
        }
        if (burned == 0) revert NoRelevantBurnIntents();
        if (charged > 0) IERC20(token).safeTransfer(_feeRecipient, charged);
        IDepositToken(token).burn(burned);
    }

    function _recover(Transfer[] memory intents, bool isSet, bytes memory signature) private pure returns (address) {
        bytes32 digest =
            MessageHashUtils.toTypedDataHash(domainSeparator(), BurnIntentHash.hashOf(intents, isSet));
        return ECDSA.recover(digest, signature);
    }

    /// @dev A contract that signed need not have code any more, nor take its signature back: the value is minted already.
    /// @return signer the account that authorized the burn: the source signer
    function _requireBurnable(Transfer memory intent, address recovered, uint256 fee, uint32 index)
        private
        view
        returns (address signer)
    {
        TransferSpec memory spec = intent.spec;
        address sourceContract = _toAddress(spec.sourceContract);
        if (sourceContract != address(this)) {
            revert InvalidIntentSourceContractAtIndex(index, sourceContract, address(this));
        }
        address token = _toAddress(spec.sourceToken);
        if (!isTokenSupported(token)) revert UnsupportedTokenAtIndex(index, token);
        signer = _toAddress(spec.sourceSigner);
        if (signer != recovered && !isContractSignatureSigner(recovered)) {
            revert InvalidIntentSourceSignerAtIndex(index, signer, recovered);
        }
        _requireEverAuthorized(token, _toAddress(spec.sourceDepositor), signer);
        if (intent.maxBlockHeight < block.number) {
            revert IntentExpiredAtIndex(index, intent.maxBlockHeight, block.number);
        }
        if (intent.maxFee < fee) revert BurnFeeTooHighAtIndex(index, intent.maxFee, fee);
    }

    /// @dev Takes the value and the fee, or as much as there is of both. The value comes before the fee: it is minted
    /// already.
    function _take(Transfer memory intent, address signer, uint256 wantedFee)
        private
        returns (uint256 value, uint256 fee)
    {
        TransferSpec memory spec = intent.spec;
        _use(intent.specHash);
        address token = _toAddress(spec.sourceToken);
        address depositor = _toAddress(spec.sourceDepositor);
        (uint256 fromAvailable, uint256 fromWithdrawing) = _debit(token, depositor, spec.value + wantedFee);
        value = fromAvailable + fromWithdrawing;
        if (value < spec.value + wantedFee) {
            emit InsufficientBalance(token, depositor, spec.value + wantedFee, fromAvailable, fromWithdrawing);
        }
        if (value > spec.value) {
            fee = value - spec.value;
            value = spec.value;
        }
        emit GatewayBurned(
            token,
            depositor,
            intent.specHash,
            spec.destinationDomain,
            spec.destinationRecipient,
            signer,
            value,
            fee,
            fromAvailable,
            fromWithdrawing
        );
    }
}
