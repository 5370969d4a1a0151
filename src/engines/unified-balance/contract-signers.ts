/**
 * Contracts that sign burn intents (ERC-1271). The wallet contract does not ask them: this server does before it attests, and signs
 * in their name when it burns. What a contract says later, or that it is gone, stops no burn of what is minted.
 */
import type { Address } from '#chains/addresses/types'
import { addressOfWord } from '#chains/crosschain/native-address'
import { attestationKeyInUse } from '#custody/installation/index'
import { canonicalHashAt, canonicalHead } from '#engines/indexer/index'
import { ApiError, invalid } from '#lib/errors'
import type { Db } from '#runtime/db/db'
import { digestOfEntry, type PlacedIntent, type SignedEntry } from './intents.ts'
import type { UnifiedChain } from './networks.ts'
import { listHeights } from './store/movements.ts'

type ContractIntent = PlacedIntent & { source: UnifiedChain }

/** The question whether the contract that signs an intent takes the signature of its entry. */
type SignerQuestion = { entry: SignedEntry; intent: ContractIntent; signer: Address }

/**
 * Throws `unifiedContractSigner` unless each contract that signs takes the signature for its own on the chain of its intent, in the
 * last final block and in the newest one: a new owner of a contract counts when it is final, a former one until it is removed. Throws
 * `unavailable` where nodes do not tell.
 */
export async function requireSignedByContracts(
  db: Db,
  entries: readonly SignedEntry[],
  intents: readonly ContractIntent[],
): Promise<void> {
  const asked = new Map<string, SignerQuestion>()
  for (const intent of intents) {
    const entry = entries[intent.entry]!
    const signer = addressOfWord(intent.spec.sourceSigner)
    if (entry.contractSigner)
      asked.set(`${intent.entry} ${intent.source.domain} ${signer}`, { entry, intent, signer })
  }
  const questions = [...asked.values()]
  for (const source of new Set(questions.map(({ intent }) => intent.source)))
    await requireBurnable(db, source, questions.find(({ intent }) => intent.source === source)!)
  await Promise.all(questions.map((question) => requireAccepted(db, question)))
}

/** The wallet contract must know the key that signs in the name of contracts: a mint that is not burned is a loss. */
async function requireBurnable(
  db: Db,
  { blockchain, crosschain }: UnifiedChain,
  asked: SignerQuestion,
): Promise<void> {
  // Without a key nothing is attested.
  const key = await attestationKeyInUse(db, 'balance')
  if (!key) return
  const signs = await crosschain.signsForContracts(key.address as Address).catch(() => {
    throw new ApiError('unavailable')
  })
  if (!signs)
    throw refused(
      asked,
      `is a contract, and the wallet contract of ${blockchain} does not let this server sign for contracts: let a delegate with a key sign`,
    )
}

async function requireAccepted(db: Db, asked: SignerQuestion): Promise<void> {
  const { entry, intent, signer } = asked
  const { blockchain, crosschain } = intent.source
  const signed = { account: signer, digest: digestOfEntry(entry), signature: entry.signature }
  for (const block of await blocksToAsk(db, blockchain)) {
    const verdict = await crosschain.contractVerdict(signed, block).catch((error) => {
      if (error instanceof ApiError) throw error
      throw new ApiError(
        'unavailable',
        `The nodes of ${blockchain} do not tell whether the contract ${signer} signed: try again in a moment.`,
      )
    })
    if (verdict === 'no contract')
      throw refused(
        asked,
        `has no contract on ${blockchain} in block ${block.number}: deploy the account and wait until that is final, or leave out contractSigner where a key signed. Signatures for accounts that are yet to be deployed (ERC-6492) are not taken`,
      )
    if (verdict === 'refused')
      throw refused(
        asked,
        `is a contract that does not take the signature for its own: isValidSignature does not accept it in block ${block.number} of ${blockchain}`,
      )
  }
}

const refused = ({ intent: { at, spec } }: SignerQuestion, reason: string) =>
  invalid({
    at: `${at}.spec.sourceSigner`,
    reason,
    value: spec.sourceSigner,
    kind: 'unifiedContractSigner',
  })

/** The last final block, and the newest one where that is another. */
async function blocksToAsk(db: Db, blockchain: string) {
  const final = (await listHeights(db)).find((row) => row.blockchain === blockchain)?.final
  const hash = final === undefined ? undefined : await canonicalHashAt(db, blockchain, final)
  const head = await canonicalHead(db, blockchain)
  if (final === undefined || hash === undefined || !head) throw new ApiError('unavailable')
  return head.number === final ? [head] : [{ number: final, hash }, head]
}
