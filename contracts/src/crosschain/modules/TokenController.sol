// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title TokenController
/// @notice The token controller says which token of this chain a token of another chain becomes here, and how much of a token
/// one message may burn.
abstract contract TokenController {
    /// @notice The largest amount that one message burns of a token, in its smallest units; 0 where the token is not supported.
    mapping(address token => uint256) public burnLimitsPerMessage;
    /// @notice The token of this chain by the hash of the other chain's domain and token, packed.
    mapping(bytes32 remoteToken => address) public remoteTokensToLocalTokens;
    address private _tokenController;

    event TokenPairLinked(address localToken, uint32 remoteDomain, bytes32 remoteToken);
    event TokenPairUnlinked(address localToken, uint32 remoteDomain, bytes32 remoteToken);
    event SetBurnLimitPerMessage(address indexed token, uint256 burnLimitPerMessage);
    event SetTokenController(address tokenController);

    modifier onlyTokenController() {
        require(msg.sender == _tokenController, "Caller is not tokenController");
        _;
    }

    /// @notice The account that links tokens and limits burns.
    function tokenController() external view returns (address) {
        return _tokenController;
    }

    /// @notice The token of this chain that `remoteToken` becomes here; zero when there is none.
    function getLocalToken(uint32 remoteDomain, bytes32 remoteToken) external view returns (address) {
        return _localTokenOf(remoteDomain, remoteToken);
    }

    /// @notice Lets `remoteToken` become `localToken` here. A pair is linked on both chains.
    function linkTokenPair(address localToken, uint32 remoteDomain, bytes32 remoteToken)
        external
        onlyTokenController
    {
        require(_localTokenOf(remoteDomain, remoteToken) == address(0), "Unable to link token pair");
        remoteTokensToLocalTokens[_keyOf(remoteDomain, remoteToken)] = localToken;
        emit TokenPairLinked(localToken, remoteDomain, remoteToken);
    }

    /// @notice Ends that; messages that are under way cannot be received until the pair is linked again.
    function unlinkTokenPair(address localToken, uint32 remoteDomain, bytes32 remoteToken)
        external
        onlyTokenController
    {
        require(_localTokenOf(remoteDomain, remoteToken) != address(0), "Unable to unlink token pair");
        delete remoteTokensToLocalTokens[_keyOf(remoteDomain, remoteToken)];
        emit TokenPairUnlinked(localToken, remoteDomain, remoteToken);
    }

    /// @notice Sets the largest amount of one message; 0 ends burns of the token.
    function setMaxBurnAmountPerMessage(address localToken, uint256 burnLimitPerMessage)
        external
        onlyTokenController
    {
        burnLimitsPerMessage[localToken] = burnLimitPerMessage;
        emit SetBurnLimitPerMessage(localToken, burnLimitPerMessage);
    }

    function _setTokenController(address newTokenController) internal {
        require(newTokenController != address(0), "Invalid token controller address");
        _tokenController = newTokenController;
        emit SetTokenController(newTokenController);
    }

    function _requireWithinLimit(address token, uint256 amount) internal view {
        uint256 limit = burnLimitsPerMessage[token];
        require(limit > 0, "Burn token not supported");
        require(amount <= limit, "Burn amount exceeds per tx limit");
    }

    function _localTokenOf(uint32 remoteDomain, bytes32 remoteToken) internal view returns (address) {
        return remoteTokensToLocalTokens[_keyOf(remoteDomain, remoteToken)];
    }

    function _keyOf(uint32 remoteDomain, bytes32 remoteToken) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(remoteDomain, remoteToken));
    }
}
