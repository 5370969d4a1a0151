// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title InternalPayer
/// @notice Pays native coin by internal calls: no transaction is addressed to the payee and no log is written, so only
/// a trace or the balance shows the payment. What it is sent by a plain transfer it keeps.
contract InternalPayer {
    /// @notice The payee did not take the coin.
    error PaymentRefused(address payee);

    receive() external payable {}

    /// @notice Forwards everything that came with the call to `payee`.
    function pay(address payable payee) external payable {
        _send(payee, msg.value);
    }

    /// @notice Splits what came with the call evenly over `payees`; the remainder stays here.
    function payMany(address payable[] calldata payees) external payable {
        uint256 share = msg.value / payees.length;
        for (uint256 i = 0; i < payees.length; i++) {
            _send(payees[i], share);
        }
    }

    /// @notice Forwards to `payee` in a call that is then undone: a trace shows the payment, but it never happened.
    function payAndRevert(address payable payee) external payable {
        try this.payThenFail{value: msg.value}(payee) {} catch {}
    }

    /// @notice The inner call of `payAndRevert`.
    function payThenFail(address payable payee) external payable {
        _send(payee, msg.value);
        revert PaymentRefused(payee);
    }

    function _send(address payable payee, uint256 value) private {
        (bool success,) = payee.call{value: value}("");
        if (!success) revert PaymentRefused(payee);
    }
}
