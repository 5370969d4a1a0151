// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @notice A transfer specification as EIP-712 encodes it: the words of its fields, and the hash of `hookData`.
struct TransferSpec {
    uint32 version;
    uint32 sourceDomain;
    uint32 destinationDomain;
    bytes32 sourceContract;
    bytes32 destinationContract;
    bytes32 sourceToken;
    bytes32 destinationToken;
    bytes32 sourceDepositor;
    bytes32 destinationRecipient;
    bytes32 sourceSigner;
    bytes32 destinationCaller;
    uint256 value;
    bytes32 salt;
    bytes32 hookDataHash;
}

/// @notice One element of a payload. `maxFee` is zero in attestations, which have none.
struct Transfer {
    uint256 maxBlockHeight;
    uint256 maxFee;
    /// keccak256 of the bytes of the specification, its magic included.
    bytes32 specHash;
    TransferSpec spec;
}

/// @title TransferBytes
/// @notice Reads burn intents and attestations, alone or in a set. Numbers are big-endian, and fields follow each other
/// without padding.
///
/// TransferSpec          offset  bytes        BurnIntent         offset  bytes
/// magic 0xca85def7           0      4        magic 0x070afbc2        0      4
/// version, 1                 4      4        maxBlockHeight          4     32
/// sourceDomain               8      4        maxFee                 36     32
/// destinationDomain         12      4        length of spec         68      4
/// sourceContract            16     32        spec                   72
/// destinationContract       48     32
/// sourceToken               80     32        Attestation        offset  bytes
/// destinationToken         112     32        magic 0xff6fb334        0      4
/// sourceDepositor          144     32        maxBlockHeight          4     32
/// destinationRecipient     176     32        length of spec         36      4
/// sourceSigner             208     32        spec                   40
/// destinationCaller        240     32
/// value                    272     32        set                offset  bytes
/// salt                     304     32        magic                   0      4
/// length of hookData       336      4        number of elements      4      4
/// hookData                 340               elements                8
///
/// The magic of a BurnIntentSet is 0xe999239b, and that of an AttestationSet 0x1e12db71. Each magic is the first four
/// bytes of the keccak256 of "circle.gateway." and the name.
library TransferBytes {
    bytes4 private constant _SPEC_MAGIC = 0xca85def7;
    bytes4 private constant _BURN_INTENT_MAGIC = 0x070afbc2;
    bytes4 private constant _BURN_INTENT_SET_MAGIC = 0xe999239b;
    bytes4 private constant _ATTESTATION_MAGIC = 0xff6fb334;
    bytes4 private constant _ATTESTATION_SET_MAGIC = 0x1e12db71;
    uint32 private constant _VERSION = 1;

    uint256 private constant _BURN_INTENT_HEAD = 72;
    uint256 private constant _ATTESTATION_HEAD = 40;
    uint256 private constant _SPEC_HEAD = 340;
    uint256 private constant _SET_HEAD = 8;

    error TransferPayloadDataTooShort(uint256 expectedMinimumLength, uint256 actualLength);
    error InvalidTransferPayloadMagic(bytes4 actualMagic);
    error TransferPayloadHeaderTooShort(uint256 expectedMinimumLength, uint256 actualLength);
    error TransferPayloadOverallLengthMismatch(uint256 expectedTotalLength, uint256 actualTotalLength);
    error TransferPayloadSetHeaderTooShort(uint256 expectedMinimumLength, uint256 actualLength);
    error TransferPayloadSetElementHeaderTooShort(uint32 index, uint256 actualSetLength, uint256 requiredOffset);
    error TransferPayloadSetElementTooShort(uint32 index, uint256 actualSetLength, uint256 requiredOffset);
    error TransferPayloadSetInvalidElementMagic(uint32 index, bytes4 actualMagic);
    error TransferPayloadSetOverallLengthMismatch(uint256 expectedTotalLength, uint256 actualTotalLength);
    error InvalidTransferSpecMagic(bytes4 actualMagic);
    error InvalidTransferSpecVersion(uint32 actualVersion);
    error TransferSpecHeaderTooShort(uint256 expectedMinimumLength, uint256 actualLength);
    error TransferSpecOverallLengthMismatch(uint256 expectedTotalLength, uint256 actualTotalLength);

    /// @notice The intents of a BurnIntent or a BurnIntentSet, and which of the two it is.
    function readBurnIntents(bytes memory data) internal pure returns (Transfer[] memory intents, bool isSet) {
        isSet = _isSet(data, _BURN_INTENT_MAGIC, _BURN_INTENT_SET_MAGIC);
        intents = isSet ? _readSet(data, _BURN_INTENT_MAGIC, _BURN_INTENT_HEAD) : _readOne(data, _BURN_INTENT_HEAD);
    }

    /// @notice The attestations of an Attestation or an AttestationSet.
    function readAttestations(bytes memory data) internal pure returns (Transfer[] memory) {
        bool isSet = _isSet(data, _ATTESTATION_MAGIC, _ATTESTATION_SET_MAGIC);
        return isSet ? _readSet(data, _ATTESTATION_MAGIC, _ATTESTATION_HEAD) : _readOne(data, _ATTESTATION_HEAD);
    }

    function _isSet(bytes memory data, bytes4 elementMagic, bytes4 setMagic) private pure returns (bool) {
        if (data.length < 4) revert TransferPayloadDataTooShort(4, data.length);
        bytes4 magic = _magicAt(data, 0);
        if (magic != elementMagic && magic != setMagic) revert InvalidTransferPayloadMagic(magic);
        return magic == setMagic;
    }

    function _readOne(bytes memory data, uint256 head) private pure returns (Transfer[] memory transfers) {
        if (data.length < head) revert TransferPayloadHeaderTooShort(head, data.length);
        uint256 expected = head + _uint32At(data, head - 4);
        if (data.length != expected) revert TransferPayloadOverallLengthMismatch(expected, data.length);
        transfers = new Transfer[](1);
        transfers[0] = _readElement(data, 0, head);
    }

    /// @dev The first loop proves that the elements are there, before the second allocates as many as the set claims.
    function _readSet(bytes memory data, bytes4 elementMagic, uint256 head)
        private
        pure
        returns (Transfer[] memory transfers)
    {
        uint256 length = data.length;
        if (length < _SET_HEAD) revert TransferPayloadSetHeaderTooShort(_SET_HEAD, length);
        uint32 count = _uint32At(data, 4);
        uint256 offset = _SET_HEAD;
        for (uint32 i = 0; i < count; ++i) {
            uint256 end = offset + head;
            if (length < end) revert TransferPayloadSetElementHeaderTooShort(i, length, end);
            end += _uint32At(data, end - 4);
            if (length < end) revert TransferPayloadSetElementTooShort(i, length, end);
            bytes4 magic = _magicAt(data, offset);
            if (magic != elementMagic) revert TransferPayloadSetInvalidElementMagic(i, magic);
            offset = end;
        }
        if (length != offset) revert TransferPayloadSetOverallLengthMismatch(offset, length);

        transfers = new Transfer[](count);
        offset = _SET_HEAD;
        for (uint32 i = 0; i < count; ++i) {
            transfers[i] = _readElement(data, offset, head);
            offset += head + _uint32At(data, offset + head - 4);
        }
    }

    /// @dev The element lies within `data` by the length that it claims for its specification.
    function _readElement(bytes memory data, uint256 offset, uint256 head)
        private
        pure
        returns (Transfer memory transfer)
    {
        uint256 specLength = _uint32At(data, offset + head - 4);
        transfer.maxBlockHeight = uint256(_wordAt(data, offset + 4));
        if (head == _BURN_INTENT_HEAD) transfer.maxFee = uint256(_wordAt(data, offset + 36));
        transfer.specHash = _hashOf(data, offset + head, specLength);
        transfer.spec = _readSpec(data, offset + head, specLength);
    }

    function _readSpec(bytes memory data, uint256 offset, uint256 length)
        private
        pure
        returns (TransferSpec memory spec)
    {
        if (length >= 4 && _magicAt(data, offset) != _SPEC_MAGIC) {
            revert InvalidTransferSpecMagic(_magicAt(data, offset));
        }
        if (length < _SPEC_HEAD) revert TransferSpecHeaderTooShort(_SPEC_HEAD, length);
        spec.version = _uint32At(data, offset + 4);
        if (spec.version != _VERSION) revert InvalidTransferSpecVersion(spec.version);
        uint256 hookDataLength = _uint32At(data, offset + 336);
        if (length != _SPEC_HEAD + hookDataLength) {
            revert TransferSpecOverallLengthMismatch(_SPEC_HEAD + hookDataLength, length);
        }
        spec.sourceDomain = _uint32At(data, offset + 8);
        spec.destinationDomain = _uint32At(data, offset + 12);
        spec.sourceContract = _wordAt(data, offset + 16);
        spec.destinationContract = _wordAt(data, offset + 48);
        spec.sourceToken = _wordAt(data, offset + 80);
        spec.destinationToken = _wordAt(data, offset + 112);
        spec.sourceDepositor = _wordAt(data, offset + 144);
        spec.destinationRecipient = _wordAt(data, offset + 176);
        spec.sourceSigner = _wordAt(data, offset + 208);
        spec.destinationCaller = _wordAt(data, offset + 240);
        spec.value = uint256(_wordAt(data, offset + 272));
        spec.salt = _wordAt(data, offset + 304);
        spec.hookDataHash = _hashOf(data, offset + _SPEC_HEAD, hookDataLength);
    }

    function _magicAt(bytes memory data, uint256 offset) private pure returns (bytes4) {
        return bytes4(_wordAt(data, offset));
    }

    function _uint32At(bytes memory data, uint256 offset) private pure returns (uint32) {
        return uint32(bytes4(_wordAt(data, offset)));
    }

    /// @dev Callers use no more of the word than lies within `data`.
    function _wordAt(bytes memory data, uint256 offset) private pure returns (bytes32 word) {
        assembly ("memory-safe") {
            word := mload(add(add(data, 32), offset))
        }
    }

    function _hashOf(bytes memory data, uint256 offset, uint256 length) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            hash := keccak256(add(add(data, 32), offset), length)
        }
    }
}
