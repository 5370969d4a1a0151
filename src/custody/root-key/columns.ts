import {
  attestationPrivateKey,
  bankNumber,
  formerRootKey,
  grantedKeyOf,
  platformEntropy,
  platformPrivateKey,
  signingCertificateKey,
  transportKey,
  walletPrivateKey,
  walletSetEntropy,
  webhookKey,
} from '../sealing/contexts.ts'
import type { SealContext, SealedFor } from '../sealing/sealing.ts'
import { intentOfGrant } from '../store/grants.ts'
import type { SealedColumn } from '../store/sealed-values.ts'

/**
 * A column of values that are sealed under the root key, with the context of each by the texts of its row. Every such column is in the
 * list of its owner: a rotation of the root key seals them again.
 */
export type RootKeyColumn = SealedColumn & { contextOf(texts: Record<string, string>): SealedFor }

export const nameOfColumn = ({ table, column }: SealedColumn) => `${table}.${column}`

const byEntity = [
  ['entity_id', 'uuid'],
  ['id', 'uuid'],
] as const

const byId = [['id', 'uuid']] as const

const ofWallet = (context: SealContext): SealedFor => ({ context, isWalletKey: true })

/** The columns of custody. */
export const custodyColumns: readonly RootKeyColumn[] = [
  {
    table: 'root_keys',
    column: 'sealed_keys',
    key: [['version', 'integer']],
    contextOf: ({ version }) => ({ context: formerRootKey(Number(version)) }),
  },
  {
    table: 'transport_keys',
    column: 'sealed_private_key',
    key: byId,
    contextOf: ({ id }) => ({ context: transportKey(id!) }),
  },
  {
    table: 'platform_seeds',
    column: 'sealed_entropy',
    key: [['entity_id', 'uuid']],
    contextOf: ({ entity_id }) => ({ context: platformEntropy(entity_id!) }),
  },
  {
    table: 'wallet_sets',
    column: 'sealed_entropy',
    key: byEntity,
    contextOf: ({ entity_id, id }) => ofWallet(walletSetEntropy(entity_id!, id!)),
  },
  {
    table: 'keys',
    column: 'sealed_private_key',
    key: byEntity,
    fields: { class: 't.class' },
    contextOf: ({ entity_id, id, class: of }) =>
      of === 'platform'
        ? { context: platformPrivateKey(entity_id!, id!) }
        : ofWallet(walletPrivateKey(entity_id!, id!)),
  },
  {
    table: 'grants',
    column: 'sealed_key',
    key: [
      ['entity_id', 'uuid'],
      ['intent_id', 'uuid'],
    ],
    fields: {
      address: 't.address',
      intent_sha256: intentOfGrant,
    },
    contextOf: ({ entity_id, intent_id, address, intent_sha256 }) => ({
      context: grantedKeyOf(entity_id!, intent_id!, address!, intent_sha256!),
    }),
  },
  {
    table: 'signing_certificates',
    column: 'sealed_private_key',
    key: byId,
    contextOf: ({ id }) => ({ context: signingCertificateKey(id!) }),
  },
  {
    table: 'webhook_keys',
    column: 'sealed_private_key',
    key: byId,
    contextOf: ({ id }) => ({ context: webhookKey(id!, 'P-256') }),
  },
  {
    table: 'webhook_keys',
    column: 'sealed_ed25519_private_key',
    key: byId,
    contextOf: ({ id }) => ({ context: webhookKey(id!, 'Ed25519') }),
  },
  {
    table: 'attestation_keys',
    column: 'sealed_private_key',
    key: byId,
    fields: { purpose: 't.purpose' },
    contextOf: ({ purpose, id }) => ({ context: attestationPrivateKey(purpose!, id!) }),
  },
  // Sealed by custody for the treasury, which links bank accounts.
  {
    table: 'bank_accounts',
    column: 'sealed_number',
    key: byEntity,
    contextOf: ({ entity_id, id }) => ({ context: bankNumber(entity_id!, id!) }),
  },
]
