// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {GatewayBase} from "./parts/GatewayBase.sol";
import {IMintAuthority} from "./parts/GatewayTokens.sol";
import {Transfer, TransferBytes, TransferSpec} from "./parts/TransferBytes.sol";

/// @title GatewayMinter
/// @notice Mints on this chain the value of transfers that the service attests, whatever chain they come from.
/// @dev The minter trusts its attestation signers: that the value is burned at its source is their affair.
contract GatewayMinter is GatewayBase {
    mapping(address signer => bool) private _attestationSigners;
    mapping(address token => address) private _mintAuthorities;

    event AttestationUsed(
        address indexed token,
        address indexed recipient,
        bytes32 indexed transferSpecHash,
        uint32 sourceDomain,
        bytes32 sourceDepositor,
        bytes32 sourceSigner,
        uint256 value
    );
    event AttestationSignerAdded(address indexed signer);
    event AttestationSignerRemoved(address indexed signer);
    event MintAuthorityChanged(
        address indexed token, address indexed oldMintAuthority, address indexed newMintAuthority
    );

    error MismatchedLengthTokenAndTokenMintAuthorities();
    error InvalidAttestationSigner();
    error MustHaveAtLeastOneAttestation();
    error AttestationExpiredAtIndex(uint32 index, uint256 maxBlockHeight, uint256 currentBlock);
    error AttestationValueMustBePositiveAtIndex(uint32 index);
    error InvalidAttestationDestinationCallerAtIndex(uint32 index, address attestationCaller, address actualCaller);
    error InvalidAttestationDestinationDomainAtIndex(uint32 index, uint32 attestationDomain, uint32 expectedDomain);
    error InvalidAttestationDestinationContractAtIndex(
        uint32 index, address attestationContract, address expectedContract
    );
    error InvalidAttestationTokenAtIndex(uint32 index, address sourceToken, address destinationToken);
    error MintRefused(address token, address mintAuthority);

    /// @notice Appoints the roles, once. The caller, which is the account that creates the proxy, becomes the owner.
    /// @param tokenMintAuthorities_ the contract that mints each token; zero where the token itself does
    function initialize(
        address pauser_,
        address denylister_,
        address[] calldata supportedTokens_,
        uint32 domain_,
        address attestationSigner_,
        address[] calldata tokenMintAuthorities_
    ) external initializer {
        if (supportedTokens_.length != tokenMintAuthorities_.length) {
            revert MismatchedLengthTokenAndTokenMintAuthorities();
        }
        _initializeBase(pauser_, denylister_, supportedTokens_, domain_);
        _setAttestationSigner(attestationSigner_, true);
        for (uint256 i = 0; i < tokenMintAuthorities_.length; ++i) {
            if (tokenMintAuthorities_[i] != address(0)) {
                _setMintAuthority(supportedTokens_[i], tokenMintAuthorities_[i]);
            }
        }
    }

    function isAttestationSigner(address signer) public view returns (bool) {
        return _attestationSigners[signer];
    }

    /// @notice The contract that mints `token` for this one; zero when the token itself does.
    function tokenMintAuthority(address token) external view returns (address) {
        return _mintAuthorities[token];
    }

    /// @notice Mints every attested transfer of the payload, or none.
    /// @param attestationPayload an encoded Attestation or AttestationSet
    /// @param signature an attestation signer's, over the personal-message hash of keccak256(attestationPayload)
    function gatewayMint(bytes memory attestationPayload, bytes memory signature)
        external
        whenNotPaused
        notDenylisted(msg.sender)
    {
        bytes32 digest = MessageHashUtils.toEthSignedMessageHash(keccak256(attestationPayload));
        if (!isAttestationSigner(ECDSA.recover(digest, signature))) revert InvalidAttestationSigner();
        Transfer[] memory attestations = TransferBytes.readAttestations(attestationPayload);
        if (attestations.length == 0) revert MustHaveAtLeastOneAttestation();
        for (uint32 i = 0; i < attestations.length; ++i) {
            uint256 maxBlockHeight = attestations[i].maxBlockHeight;
            if (maxBlockHeight < block.number) revert AttestationExpiredAtIndex(i, maxBlockHeight, block.number);
            _requireMintable(attestations[i].spec, i);
            _mint(attestations[i]);
        }
    }

    function addAttestationSigner(address signer) external onlyOwner {
        _setAttestationSigner(signer, true);
    }

    function removeAttestationSigner(address signer) external onlyOwner {
        _setAttestationSigner(signer, false);
    }

    function updateMintAuthority(address token, address newMintAuthority) external onlyOwner tokenSupported(token) {
        _requireNotZero(newMintAuthority);
        _setMintAuthority(token, newMintAuthority);
    }

    function _setAttestationSigner(address signer, bool isSigner) private {
        _requireNotZero(signer);
        _attestationSigners[signer] = isSigner;
        if (isSigner) emit AttestationSignerAdded(signer);
        else emit AttestationSignerRemoved(signer);
    }

    function _setMintAuthority(address token, address newMintAuthority) private {
        emit MintAuthorityChanged(token, _mintAuthorities[token], newMintAuthority);
        _mintAuthorities[token] = newMintAuthority;
    }

    function _requireMintable(TransferSpec memory spec, uint32 index) private view {
        if (spec.value == 0) revert AttestationValueMustBePositiveAtIndex(index);
        _requireNotDenylisted(_toAddress(spec.destinationRecipient));
        address caller = _toAddress(spec.destinationCaller);
        if (caller != address(0) && caller != msg.sender) {
            revert InvalidAttestationDestinationCallerAtIndex(index, caller, msg.sender);
        }
        if (spec.destinationDomain != domain()) {
            revert InvalidAttestationDestinationDomainAtIndex(index, spec.destinationDomain, domain());
        }
        address minter = _toAddress(spec.destinationContract);
        if (minter != address(this)) {
            revert InvalidAttestationDestinationContractAtIndex(index, minter, address(this));
        }
        address token = _toAddress(spec.destinationToken);
        if (!isTokenSupported(token)) revert UnsupportedTokenAtIndex(index, token);
        address sourceToken = _toAddress(spec.sourceToken);
        if (spec.sourceDomain == spec.destinationDomain && sourceToken != token) {
            revert InvalidAttestationTokenAtIndex(index, sourceToken, token);
        }
    }

    function _mint(Transfer memory attestation) private {
        TransferSpec memory spec = attestation.spec;
        _use(attestation.specHash);
        address token = _toAddress(spec.destinationToken);
        address recipient = _toAddress(spec.destinationRecipient);
        address authority = _mintAuthorities[token] == address(0) ? token : _mintAuthorities[token];
        if (!IMintAuthority(authority).mint(recipient, spec.value)) revert MintRefused(token, authority);
        emit AttestationUsed(
            token,
            recipient,
            attestation.specHash,
            spec.sourceDomain,
            spec.sourceDepositor,
            spec.sourceSigner,
            spec.value
        );
    }
}
