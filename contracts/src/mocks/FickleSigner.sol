// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// @title FickleSigner
/// @notice Hostile: a contract account whose answer about a signature anyone changes. A program that asks it once and relies on
/// the same answer later loses.
contract FickleSigner {
    enum Mood {
        Accepts,
        Refuses,
        Reverts,
        BurnsGas,
        Halts,
        AnswersNothing,
        AnswersGarbage,
        AnswersUnpadded,
        AnswersTooMuch
    }

    Mood public mood;

    /// @notice Changes its answer.
    function become(Mood newMood) external {
        mood = newMood;
    }

    /// @notice Answers as its mood is.
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        if (mood == Mood.Accepts) return this.isValidSignature.selector;
        if (mood == Mood.Refuses) return 0xffffffff;
        if (mood == Mood.Reverts) revert("request timeout");
        if (mood == Mood.Halts) {
            assembly ("memory-safe") {
                invalid()
            }
        }
        uint256 gas_;
        while (mood == Mood.BurnsGas) gas_ = gasleft();
        bytes32 answer = bytes32(this.isValidSignature.selector);
        uint256 length = 32;
        if (mood == Mood.AnswersNothing) length = 0;
        if (mood == Mood.AnswersGarbage) answer |= bytes32(uint256(1));
        if (mood == Mood.AnswersUnpadded) length = 4;
        if (mood == Mood.AnswersTooMuch) length = 100_000;
        assembly ("memory-safe") {
            let start := mload(0x40)
            mstore(start, answer)
            return(start, length)
        }
    }
}
