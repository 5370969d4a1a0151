// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Account} from "@openzeppelin/contracts/account/Account.sol";
import {IEntryPoint, PackedUserOperation} from "@openzeppelin/contracts/interfaces/IERC4337.sol";
import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ERC721Holder} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Holder.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {OwnershipPlugin} from "./OwnershipPlugin.sol";
import {PublicKey, WeightedOwners} from "./WeightedOwners.sol";

/// @notice One call of a batch.
struct Call {
    address target;
    uint256 value;
    bytes data;
}

/// @title SmartAccount
/// @notice The code behind the proxy of an account of ERC-4337 0.7 with weighted owners.
contract SmartAccount is
    Account,
    WeightedOwners,
    Initializable,
    UUPSUpgradeable,
    ERC721Holder,
    ERC1155Holder,
    IERC1271
{
    /// @dev Part of the address of each account, since clients put it into the data that initializes it.
    bytes32 private constant MANIFEST_HASH =
        0xa043327d77a74c1c55cfa799284b831fe09535a88b9f5fa4173d334e5ba0fd91;

    IEntryPoint private immutable accountEntryPoint;
    OwnershipPlugin private immutable accountPlugin;

    error PluginsInvalid();

    constructor(IEntryPoint entryPoint_, OwnershipPlugin plugin_) {
        accountEntryPoint = entryPoint_;
        accountPlugin = plugin_;
        _disableInitializers();
    }

    function entryPoint() public view override returns (IEntryPoint) {
        return accountEntryPoint;
    }

    /// @notice The contract whose address the domain of signed messages names.
    function plugin() external view returns (OwnershipPlugin) {
        return accountPlugin;
    }

    /// @notice Sets the first owners, once.
    /// @param pluginInstallData abi.encode(address[] owners, uint256[] weights, PublicKey[] keys, uint256[] keyWeights,
    /// uint256 threshold)
    function initializeUpgradableMSCA(
        address[] calldata plugins,
        bytes32[] calldata manifestHashes,
        bytes[] calldata pluginInstallData
    ) external initializer {
        bool valid = plugins.length == 1 && manifestHashes.length == 1 && pluginInstallData.length == 1
            && plugins[0] == address(accountPlugin) && manifestHashes[0] == MANIFEST_HASH;
        if (!valid) revert PluginsInvalid();
        (
            address[] memory owners,
            uint256[] memory weights,
            PublicKey[] memory keys,
            uint256[] memory keyWeights,
            uint256 threshold
        ) = abi.decode(pluginInstallData[0], (address[], uint256[], PublicKey[], uint256[], uint256));
        _addOwners(owners, weights, keys, keyWeights, threshold);
    }

    /// @notice Calls `target`; reverts with its reason.
    function execute(address target, uint256 value, bytes calldata data)
        external
        payable
        onlyEntryPointOrSelf
        returns (bytes memory)
    {
        return _call(target, value, data);
    }

    /// @notice Makes all calls or none.
    function executeBatch(Call[] calldata calls)
        external
        payable
        onlyEntryPointOrSelf
        returns (bytes[] memory results)
    {
        results = new bytes[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            results[i] = _call(calls[i].target, calls[i].value, calls[i].data);
        }
    }

    /// @notice Adds owners; a threshold of zero leaves it as it is.
    function addOwners(
        address[] calldata owners,
        uint256[] calldata weights,
        PublicKey[] calldata keys,
        uint256[] calldata keyWeights,
        uint256 threshold
    ) external onlyEntryPointOrSelf {
        _addOwners(owners, weights, keys, keyWeights, threshold);
    }

    /// @notice Removes owners; a threshold of zero leaves it as it is.
    function removeOwners(address[] calldata owners, PublicKey[] calldata keys, uint256 threshold)
        external
        onlyEntryPointOrSelf
    {
        _removeOwners(owners, keys, threshold);
    }

    /// @notice Changes weights; a threshold of zero leaves it as it is.
    function updateMultisigWeights(
        address[] calldata owners,
        uint256[] calldata weights,
        PublicKey[] calldata keys,
        uint256[] calldata keyWeights,
        uint256 threshold
    ) external onlyEntryPointOrSelf {
        _updateWeights(owners, weights, keys, keyWeights, threshold);
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bytes32 signed = accountPlugin.getReplaySafeMessageHash(address(this), hash);
        return _isSigned(signed, signature, false) ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }

    function _rawSignatureValidation(bytes32 hash, bytes calldata signature)
        internal
        view
        override
        returns (bool)
    {
        return _isSigned(hash, signature, true);
    }

    function _authorizeUpgrade(address) internal view override onlyEntryPointOrSelf {}

    /// @dev A call of an account without code moves coins alone, as one from a key does.
    function _call(address target, uint256 value, bytes calldata data) private returns (bytes memory) {
        (bool success, bytes memory result) = target.call{value: value}(data);
        return Address.verifyCallResult(success, result);
    }
}
