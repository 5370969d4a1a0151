import {
  changePinChallenge,
  createWalletChallenge,
  initializeChallenge,
  restorePinChallenge,
  setPinChallenge,
} from './key-kinds.ts'
import { signMessageChallenge, signTransactionChallenge, signTypedDataChallenge } from './signing-kinds.ts'
import {
  accelerateTransactionChallenge,
  cancelTransactionChallenge,
  contractExecutionChallenge,
  createTransactionChallenge,
  walletUpgradeChallenge,
} from './transaction-kinds.ts'
import type { ChallengeKind, ChallengeType } from './types.ts'

const kinds = [
  initializeChallenge,
  setPinChallenge,
  changePinChallenge,
  restorePinChallenge,
  createWalletChallenge,
  createTransactionChallenge,
  contractExecutionChallenge,
  walletUpgradeChallenge,
  accelerateTransactionChallenge,
  cancelTransactionChallenge,
  signMessageChallenge,
  signTypedDataChallenge,
  signTransactionChallenge,
]

export const challengeKindOf = (type: ChallengeType): ChallengeKind<object> =>
  kinds.find((kind) => kind.type === type) as ChallengeKind<object>
