// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

/// @title GatewayBase
/// @notice The rules that GatewayWallet and GatewayMinter share: roles, the denylist, supported tokens, the domain of the
/// chain, and the hashes of transfers that took place here.
abstract contract GatewayBase is Initializable, UUPSUpgradeable, Ownable2Step, Pausable {
    address private _pauser;
    address private _denylister;
    uint32 private _domain;
    mapping(address account => bool) private _denied;
    mapping(address token => bool) private _supported;
    mapping(bytes32 transferSpecHash => bool) private _used;

    event PauserChanged(address indexed oldPauser, address indexed newPauser);
    event DenylisterChanged(address indexed oldDenylister, address indexed newDenylister);
    event Denylisted(address indexed addr);
    event UnDenylisted(address indexed addr);
    event TokenSupported(address token);

    error UnauthorizedPauser(address caller);
    error UnauthorizedDenylister(address addr);
    error AccountDenylisted(address addr);
    error UnsupportedToken(address token);
    error UnsupportedTokenAtIndex(uint32 index, address token);
    error TransferSpecHashUsed(bytes32 transferSpecHash);
    error InvalidAddress();

    modifier onlyPauser() {
        if (msg.sender != _pauser) revert UnauthorizedPauser(msg.sender);
        _;
    }

    modifier onlyDenylister() {
        if (msg.sender != _denylister) revert UnauthorizedDenylister(msg.sender);
        _;
    }

    modifier notDenylisted(address account) {
        _requireNotDenylisted(account);
        _;
    }

    modifier tokenSupported(address token) {
        if (!_supported[token]) revert UnsupportedToken(token);
        _;
    }

    /// @dev The implementation itself has an owner without a key and cannot be initialised.
    constructor() Ownable(address(1)) {
        _disableInitializers();
    }

    /// @notice The account that stops and restarts transfers.
    function pauser() external view returns (address) {
        return _pauser;
    }

    /// @notice The account that keeps the denylist.
    function denylister() external view returns (address) {
        return _denylister;
    }

    /// @notice The number of this chain in transfers between chains.
    function domain() public view returns (uint32) {
        return _domain;
    }

    /// @notice Whether `addr` is excluded from deposits, delegations and mints.
    function isDenylisted(address addr) external view returns (bool) {
        return _denied[addr];
    }

    /// @notice Whether deposits or mints of `token` are accepted.
    function isTokenSupported(address token) public view returns (bool) {
        return _supported[token];
    }

    /// @notice Whether the transfer with this hash took place here. It cannot take place twice.
    function isTransferSpecHashUsed(bytes32 transferSpecHash) external view returns (bool) {
        return _used[transferSpecHash];
    }

    function pause() external onlyPauser {
        _pause();
    }

    function unpause() external onlyPauser {
        _unpause();
    }

    function denylist(address addr) external onlyDenylister {
        _denied[addr] = true;
        emit Denylisted(addr);
    }

    function unDenylist(address addr) external onlyDenylister {
        _denied[addr] = false;
        emit UnDenylisted(addr);
    }

    function updatePauser(address newPauser) external onlyOwner {
        _setPauser(newPauser);
    }

    function updateDenylister(address newDenylister) external onlyOwner {
        _setDenylister(newDenylister);
    }

    /// @notice Accepts a token, for good: balances of it must stay withdrawable.
    function addSupportedToken(address token) external onlyOwner {
        _supportToken(token);
    }

    function _initializeBase(
        address newPauser,
        address newDenylister,
        address[] calldata tokens,
        uint32 domainOfChain
    ) internal {
        _transferOwnership(msg.sender);
        _setPauser(newPauser);
        _setDenylister(newDenylister);
        for (uint256 i = 0; i < tokens.length; ++i) {
            _supportToken(tokens[i]);
        }
        _domain = domainOfChain;
    }

    function _authorizeUpgrade(address) internal override onlyOwner {}

    /// @dev Reverts for the second transfer of this hash.
    function _use(bytes32 transferSpecHash) internal {
        if (_used[transferSpecHash]) revert TransferSpecHashUsed(transferSpecHash);
        _used[transferSpecHash] = true;
    }

    function _requireNotDenylisted(address account) internal view {
        if (_denied[account]) revert AccountDenylisted(account);
    }

    function _requireNotZero(address account) internal pure {
        if (account == address(0)) revert InvalidAddress();
    }

    /// @dev The upper 12 bytes are not checked: their value is part of the hash that was signed.
    function _toAddress(bytes32 word) internal pure returns (address) {
        return address(uint160(uint256(word)));
    }

    function _setPauser(address newPauser) private {
        emit PauserChanged(_pauser, newPauser);
        _pauser = newPauser;
    }

    function _setDenylister(address newDenylister) private {
        emit DenylisterChanged(_denylister, newDenylister);
        _denylister = newDenylister;
    }

    function _supportToken(address token) private {
        _supported[token] = true;
        emit TokenSupported(token);
    }
}
