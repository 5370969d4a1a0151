import Type from 'typebox'
import { blockchains, environmentOf, walletBlockchains } from '#chains/blockchains'
import { addressBookChains, businessChains } from '#chains/business-chains'
import { capabilitiesOf } from '#chains/capabilities'
import { networkOf } from '#chains/networks/index'
import { logged } from '#runtime/http/openapi/annotate'

/** A field of every operation that uses a developer's keys. */
export const ciphertextField = Type.String({
  title: 'EntitySecretCiphertext',
  description:
    'The 32-byte entity secret, encrypted to the public key of this server (RSA-OAEP, SHA-256 for both hashes), as base64. Each ciphertext works once.',
})

/** Text that a client may choose freely. */
export const freeText = (description: string) => Type.String({ maxLength: 256, description })

/** Text that a list is filtered by. Client libraries write `null` for an absent value. */
export const filterText = (description: string) =>
  Type.String({ maxLength: 1024, pattern: '^(?!null$)', description: `${description} Not the text null.` })

export const idField = (description: string) => Type.String({ format: 'uuid', description })
export const dateField = (description: string) => Type.String({ format: 'date-time', description })
export const createDateField = dateField('The time of creation.')
export const updateDateField = dateField('The time of the latest change.')

export const blockchainField = Type.Enum([...walletBlockchains], {
  title: 'Blockchain',
  description:
    'A blockchain of the wallets. EVM and EVM-TESTNET stand for all EVM chains, and their wallets only sign.',
  // The others are known to the interface, and this version has no wallets on them.
  '~recommended': walletBlockchains.filter((name) => !capabilitiesOf(name).connects || networkOf(name)),
})
export const testBlockchainField = Type.Enum(
  blockchains.filter((name) => environmentOf(name) === 'TEST'),
  { title: 'TestBlockchain', description: 'A blockchain of a test network.' },
)

const chainText =
  "A chain of the business account. It names the network of the key's environment: with a TEST key, BASE is BASE-SEPOLIA."
export const businessChainField = Type.Enum(businessChains, { title: 'Chain', description: chainText })
export const addressBookChainField = Type.Enum(addressBookChains, {
  title: 'AddressBookChain',
  description: chainText,
})

/** The query parameter that names the main wallet of the business account. */
export const walletIdText = logged(
  'id',
  Type.String({
    maxLength: 36,
    description: 'The main wallet; the default is the `masterWalletId` of GET /v1/configuration.',
  }),
)

export const custodyField = Type.Enum(['DEVELOPER', 'ENDUSER'], {
  title: 'CustodyType',
  description: 'Whether the developer or a user controls the wallet.',
})

export const userField = Type.String({ description: 'The user who holds the keys, where a user does.' })

export const framedByField = Type.String({
  maxLength: 261,
  description:
    'The origin of the site that shows the page in a frame, as the page has it from the browser. Absent for other clients.',
})

/** The members of a subscription, of either line, whose oldest waiting notifications were dropped. */
export const droppedFields = {
  droppedCount: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Number of waiting notifications that were dropped because 100,000 later ones were queued; present if there are any.',
    }),
  ),
  droppedDate: Type.Optional(dateField('When the last of them was dropped.')),
}
