// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {WebAuthn} from "@openzeppelin/contracts/utils/cryptography/WebAuthn.sol";

/// @notice A P-256 public key.
struct PublicKey {
    uint256 x;
    uint256 y;
}

/// @notice One owner: an address, or a P-256 key when `account` is zero.
struct Owner {
    uint256 weight;
    address account;
    PublicKey key;
}

/// @title WeightedOwners
/// @notice Owners with weights, by address and by passkey, whose signatures count when their weights reach a threshold.
/// @dev A signature is a list of parts of 65 bytes, one for each signing owner, ascending by the owner's id, followed by the
/// assertions of passkeys. The part of an address is r, s and v: v of 27 or 28 signs the digest as it is, 32 more the
/// digest as a personal message. The part of a passkey is its id, the offset of its assertion in the whole signature and
/// the byte 2, or 34 for the digest as a personal message.
abstract contract WeightedOwners {
    uint256 public constant OWNERS_MAX = 1_000;

    uint256 private constant PART_BYTES = 65;
    uint8 private constant PASSKEY = 2;
    /// @dev Added to the last byte of a part that signs the personal message of the digest.
    uint8 private constant PERSONAL = 32;

    /// @custom:storage-location erc7201:bezant.accounts.owners
    struct Owners {
        uint256 threshold;
        uint256 totalWeight;
        bytes30[] ids;
        mapping(bytes30 id => Owner) byId;
        /// The place in `ids`, from one.
        mapping(bytes30 id => uint256) places;
    }

    // keccak256(abi.encode(uint256(keccak256("bezant.accounts.owners")) - 1)) & ~bytes32(uint256(0xff))
    bytes32 private constant OWNERS_SLOT =
        0x709e37b3605b75db3601f664284cba70e6d8b0cba32d350e07550eab8c5c7200;

    struct WebAuthnData {
        bytes authenticatorData;
        bytes clientDataJSON;
        uint256 challengeIndex;
        uint256 typeIndex;
        bool requireUserVerification;
    }

    struct Assertion {
        WebAuthnData webAuthnData;
        uint256 r;
        uint256 s;
    }

    event OwnersAdded(bytes30[] ids, uint256 threshold);
    event OwnersRemoved(bytes30[] ids, uint256 threshold);
    event WeightsUpdated(bytes30[] ids, uint256 threshold);

    error OwnersMismatch(uint256 owners, uint256 weights);
    error TooManyOwners(uint256 max);
    error OwnerInvalid(bytes30 id);
    error OwnerExists(bytes30 id);
    error OwnerUnknown(bytes30 id);
    error WeightInvalid(bytes30 id, uint256 weight);
    error ThresholdInvalid(uint256 threshold, uint256 totalWeight);

    /// @notice The ids of all owners, what each is, and the weight that signatures must reach.
    function ownership() external view returns (bytes30[] memory ids, Owner[] memory owners, uint256 threshold) {
        Owners storage stored = _owners();
        ids = stored.ids;
        owners = new Owner[](ids.length);
        for (uint256 i = 0; i < ids.length; ++i) owners[i] = stored.byId[ids[i]];
        threshold = stored.threshold;
    }

    /// @dev A threshold of zero leaves it as it is.
    function _addOwners(
        address[] memory accounts,
        uint256[] memory weights,
        PublicKey[] memory keys,
        uint256[] memory keyWeights,
        uint256 threshold
    ) internal {
        bytes30[] memory ids = _idsOf(accounts, weights, keys, keyWeights);
        Owners storage stored = _owners();
        if (stored.ids.length + ids.length > OWNERS_MAX) revert TooManyOwners(OWNERS_MAX);
        uint256 total = stored.totalWeight;
        for (uint256 i = 0; i < ids.length; ++i) {
            bytes30 id = ids[i];
            if (stored.places[id] != 0) revert OwnerExists(id);
            bool isKey = i >= accounts.length;
            uint256 weight = isKey ? keyWeights[i - accounts.length] : weights[i];
            Owner storage owner = stored.byId[id];
            if (isKey) {
                PublicKey memory key = keys[i - accounts.length];
                if (!P256.isValidPublicKey(bytes32(key.x), bytes32(key.y))) revert OwnerInvalid(id);
                owner.key = key;
            } else {
                if (accounts[i] == address(0)) revert OwnerInvalid(id);
                owner.account = accounts[i];
            }
            owner.weight = _checkWeight(id, weight);
            total += weight;
            stored.ids.push(id);
            stored.places[id] = stored.ids.length;
        }
        _setTotals(stored, total, threshold);
        emit OwnersAdded(ids, stored.threshold);
    }

    /// @dev A threshold of zero leaves it as it is.
    function _removeOwners(address[] memory accounts, PublicKey[] memory keys, uint256 threshold) internal {
        bytes30[] memory ids =
            _idsOf(accounts, new uint256[](accounts.length), keys, new uint256[](keys.length));
        Owners storage stored = _owners();
        uint256 total = stored.totalWeight;
        for (uint256 i = 0; i < ids.length; ++i) {
            bytes30 id = ids[i];
            uint256 place = stored.places[id];
            if (place == 0) revert OwnerUnknown(id);
            total -= stored.byId[id].weight;
            bytes30 last = stored.ids[stored.ids.length - 1];
            stored.ids[place - 1] = last;
            stored.places[last] = place;
            stored.ids.pop();
            delete stored.places[id];
            delete stored.byId[id];
        }
        _setTotals(stored, total, threshold);
        emit OwnersRemoved(ids, stored.threshold);
    }

    /// @dev A threshold of zero leaves it as it is.
    function _updateWeights(
        address[] memory accounts,
        uint256[] memory weights,
        PublicKey[] memory keys,
        uint256[] memory keyWeights,
        uint256 threshold
    ) internal {
        bytes30[] memory ids = _idsOf(accounts, weights, keys, keyWeights);
        Owners storage stored = _owners();
        uint256 total = stored.totalWeight;
        for (uint256 i = 0; i < ids.length; ++i) {
            bytes30 id = ids[i];
            if (stored.places[id] == 0) revert OwnerUnknown(id);
            uint256 weight = i < accounts.length ? weights[i] : keyWeights[i - accounts.length];
            total = total - stored.byId[id].weight + _checkWeight(id, weight);
            stored.byId[id].weight = weight;
        }
        _setTotals(stored, total, threshold);
        emit WeightsUpdated(ids, stored.threshold);
    }

    /// @dev Whether enough owners signed. `isOperation` admits signatures of the personal message of `digest`, which are those
    /// of user operations, and no others; signatures of messages are of the digest itself.
    function _isSigned(bytes32 digest, bytes calldata signature, bool isOperation) internal view returns (bool) {
        Owners storage stored = _owners();
        uint256 threshold = stored.threshold;
        if (threshold == 0) return false;
        bytes32 signed = isOperation ? MessageHashUtils.toEthSignedMessageHash(digest) : digest;
        uint256 weight = 0;
        bytes30 last = 0;
        for (uint256 start = 0; weight < threshold; start += PART_BYTES) {
            if (signature.length < start + PART_BYTES) return false;
            (bool valid, bytes30 id) = _signerOf(stored, signed, signature, start, isOperation ? PERSONAL : 0);
            if (!valid || id <= last) return false;
            weight += stored.byId[id].weight;
            last = id;
        }
        return true;
    }

    function _signerOf(
        Owners storage stored,
        bytes32 signed,
        bytes calldata signature,
        uint256 start,
        uint8 personal
    ) private view returns (bool valid, bytes30 id) {
        bytes32 first = bytes32(signature[start:start + 32]);
        bytes32 second = bytes32(signature[start + 32:start + 64]);
        uint8 kind = uint8(signature[start + 64]);
        if (kind == PASSKEY + personal) {
            // Clients leave out the first two bytes of the id, or keep them: an id has 30.
            id = bytes30(first << 16);
            Owner storage owner = stored.byId[id];
            valid = owner.key.x != 0 && _isAsserted(signed, signature, uint256(second), owner.key);
        } else if (kind == 27 + personal || kind == 28 + personal) {
            (address signer, ECDSA.RecoverError problem,) =
                ECDSA.tryRecover(signed, kind - personal, first, second);
            id = _idOf(signer);
            valid = problem == ECDSA.RecoverError.NoError && stored.places[id] != 0;
        }
    }

    function _isAsserted(bytes32 signed, bytes calldata signature, uint256 offset, PublicKey storage key)
        private
        view
        returns (bool)
    {
        if (offset > signature.length || signature.length - offset < 32) return false;
        uint256 length = uint256(bytes32(signature[offset:offset + 32]));
        if (length > signature.length - offset - 32) return false;
        Assertion memory assertion = abi.decode(signature[offset + 32:offset + 32 + length], (Assertion));
        WebAuthnData memory data = assertion.webAuthnData;
        return WebAuthn.verify(
            abi.encodePacked(signed),
            WebAuthn.WebAuthnAuth({
                r: bytes32(assertion.r),
                s: bytes32(assertion.s),
                challengeIndex: data.challengeIndex,
                typeIndex: data.typeIndex,
                authenticatorData: data.authenticatorData,
                clientDataJSON: string(data.clientDataJSON)
            }),
            bytes32(key.x),
            bytes32(key.y)
        );
    }

    function _idsOf(
        address[] memory accounts,
        uint256[] memory weights,
        PublicKey[] memory keys,
        uint256[] memory keyWeights
    ) private pure returns (bytes30[] memory ids) {
        if (accounts.length != weights.length) revert OwnersMismatch(accounts.length, weights.length);
        if (keys.length != keyWeights.length) revert OwnersMismatch(keys.length, keyWeights.length);
        ids = new bytes30[](accounts.length + keys.length);
        for (uint256 i = 0; i < accounts.length; ++i) ids[i] = _idOf(accounts[i]);
        for (uint256 i = 0; i < keys.length; ++i) {
            ids[accounts.length + i] = bytes30(keccak256(abi.encode(keys[i].x, keys[i].y)) << 16);
        }
    }

    function _idOf(address account) private pure returns (bytes30) {
        return bytes30(bytes32(uint256(uint160(account))) << 16);
    }

    function _checkWeight(bytes30 id, uint256 weight) private pure returns (uint256) {
        if (weight == 0 || weight > type(uint128).max) revert WeightInvalid(id, weight);
        return weight;
    }

    function _setTotals(Owners storage stored, uint256 total, uint256 threshold) private {
        if (threshold == 0) threshold = stored.threshold;
        if (threshold == 0 || threshold > total) revert ThresholdInvalid(threshold, total);
        stored.totalWeight = total;
        stored.threshold = threshold;
    }

    function _owners() private pure returns (Owners storage stored) {
        bytes32 slot = OWNERS_SLOT;
        assembly ("memory-safe") {
            stored.slot := slot
        }
    }
}
