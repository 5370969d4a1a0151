import { invalid } from '#lib/errors'
import type { Hex } from '#lib/hex'
import { airdrop } from './artifacts/airdrop.ts'
import { erc20Template } from './artifacts/erc20-template.ts'
import { erc721Template } from './artifacts/erc721-template.ts'
import { erc1155Template } from './artifacts/erc1155-template.ts'

/** `uri`: text that may be longer. `fraction`: a number from 0 to 1, in basis points on the chain. */
export type TemplateParameter = {
  name: string
  /** Another documented spelling of the name. */
  alias?: string
  kind: 'text' | 'uri' | 'address' | 'addresses' | 'fraction'
  isRequired: boolean
}

/** A contract that is deployed by its id and named parameters, which are listed in the order of its constructor. */
export type ContractTemplate = {
  abiJson: string
  bytecode: Hex
  parameters: readonly TemplateParameter[]
}

type Kind = TemplateParameter['kind']
const required = (name: string, kind: Kind): TemplateParameter => ({ name, kind, isRequired: true })
const optional = (name: string, kind: Kind): TemplateParameter => ({ name, kind, isRequired: false })

const ofAllTokens = [
  required('name', 'text'),
  optional('symbol', 'text'),
  required('defaultAdmin', 'address'),
  required('primarySaleRecipient', 'address'),
  optional('platformFeeRecipient', 'address'),
  optional('platformFeePercent', 'fraction'),
]
const ofRoyalties = [required('royaltyRecipient', 'address'), required('royaltyPercent', 'fraction')]
const contractUri: TemplateParameter = { ...optional('contractUri', 'uri'), alias: 'contractURI' }
const trustedForwarders = optional('trustedForwarders', 'addresses')

/** The templates by their documented ids. */
export const templates: Readonly<Record<string, ContractTemplate>> = {
  'a1b74add-23e0-4712-88d1-6b3009e85a86': {
    ...erc20Template,
    parameters: [...ofAllTokens, contractUri, trustedForwarders],
  },
  '76b83278-50e2-4006-8b63-5b1a2a814533': {
    ...erc721Template,
    parameters: [...ofAllTokens, ...ofRoyalties, contractUri, trustedForwarders],
  },
  'aea21da6-0aa2-4971-9a1a-5098842b1248': {
    ...erc1155Template,
    parameters: [...ofAllTokens, ...ofRoyalties, contractUri, trustedForwarders],
  },
  '13e322f2-18dc-4f57-8eed-4bddfc50f85e': {
    ...airdrop,
    parameters: [required('defaultAdmin', 'address'), contractUri],
  },
}

/** The template with that id. */
export function requireTemplate(id: string): ContractTemplate {
  const key = id.toLowerCase()
  if (Object.hasOwn(templates, key)) return templates[key]!
  throw invalid({
    at: 'id',
    reason: 'is not the id of a contract template',
    value: id,
    kind: 'templateNotFound',
  })
}
