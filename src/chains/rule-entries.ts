import { isNativeContract, isReservedOn, parseAddressOn } from './address.ts'
import { isBlockchain } from './blockchains.ts'
import { blockchainWithId } from './chain-ids.ts'

/** How the blockchains and addresses that a rule of policy names are read. */
export const ruleEntries = { isBlockchain, blockchainWithId, parseAddressOn, isReservedOn, isNativeContract }
