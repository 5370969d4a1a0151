import { changePin, createWallet, initialize, restorePin, setPin } from './key-kinds.ts'
import { signMessage, signTransaction, signTypedData } from './signing-kinds.ts'
import {
  accelerateTransaction,
  cancelTransaction,
  contractExecution,
  createTransaction,
  walletUpgrade,
} from './transaction-kinds.ts'
import type { ChallengeKind, ChallengeType } from './types.ts'

const kinds = [
  initialize,
  setPin,
  changePin,
  restorePin,
  createWallet,
  createTransaction,
  contractExecution,
  walletUpgrade,
  accelerateTransaction,
  cancelTransaction,
  signMessage,
  signTypedData,
  signTransaction,
]

export const kindOf = (type: ChallengeType): ChallengeKind<object> =>
  kinds.find((kind) => kind.type === type) as ChallengeKind<object>
