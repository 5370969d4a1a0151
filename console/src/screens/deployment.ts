import { ask } from '../api/ask.ts'
import { signingFields, withSecret } from '../api/entity-secret.ts'
import { feeLevels, walletChoices, walletOf } from './choices.ts'
import type { Action, Field, FieldValues } from './screen.ts'

/** The fields of each deployment. The wallet decides the chain. */
const ownFields: readonly Field[] = [
  { name: 'name', title: 'Name' },
  { name: 'walletId', title: 'Wallet that deploys and pays', choices: () => walletChoices() },
  { name: 'feeLevel', title: 'Fee', options: feeLevels, value: 'MEDIUM' },
]

const ownValues = async (values: Record<string, string>) => {
  const { name, feeLevel } = values
  const { walletId, blockchain } = walletOf(values['walletId'])
  return { ...(await signingFields(values)), name, feeLevel, walletId, blockchain }
}

/** Reads JSON that a reader typed, of a field that says so. */
export function parsedJson<Value>(what: string, json: string | undefined, otherwise: Value): Value {
  if (!json) return otherwise
  try {
    return JSON.parse(json)
  } catch {
    throw new Error(`${what} must be JSON: write a list, such as ["0x…", "1000000"].`)
  }
}

export const deployContract: Action<undefined> = {
  title: 'Deploy',
  icon: 'upload',
  about: 'Deploys a contract from its bytecode. The ABI tells its constructor, functions and events.',
  fields: withSecret([
    ...ownFields,
    { name: 'abiJson', title: 'ABI', hint: 'The list of JSON that the compiler gives', isLong: true },
    { name: 'bytecode', title: 'Bytecode', hint: '0x and hexadecimal digits', isLong: true },
    {
      name: 'constructorParameters',
      title: 'Parameters of the constructor',
      hint: 'A list of JSON, such as ["0x…", "1000000"]',
      isOptional: true,
    },
  ]),
  async run(_, values) {
    const { abiJson, bytecode, constructorParameters } = values
    const { data } = await ask<{ contractId: string }>('POST', '/v1/w3s/contracts/deploy', {
      ...(await ownValues(values)),
      abiJson,
      bytecode: bytecode?.trim(),
      constructorParameters: parsedJson('The parameters', constructorParameters, []),
    })
    return { goTo: `/contracts/${data.contractId}` }
  },
}

/** A parameter of a template: text unless it is a share, or a list of addresses. */
type Parameter = { name: string; title: string; hint?: string; kind?: 'share' | 'list'; isRequired?: boolean }

const admin: Parameter = {
  name: 'defaultAdmin',
  title: 'Administrator',
  hint: 'The address that gets the roles, or owns the airdrop',
  isRequired: true,
}
const contractUri: Parameter = { name: 'contractUri', title: 'Document', hint: 'Its address' }
const ofTokens: readonly Parameter[] = [
  { name: 'name', title: 'Name of the token', isRequired: true },
  { name: 'symbol', title: 'Symbol' },
  admin,
  {
    name: 'primarySaleRecipient',
    title: 'Recipient of first sales',
    hint: 'The address that shops pay',
    isRequired: true,
  },
]
const royalties: readonly Parameter[] = [
  { name: 'royaltyRecipient', title: 'Recipient of royalties', isRequired: true },
  {
    name: 'royaltyPercent',
    title: 'Royalty',
    hint: 'From 0 to 1: 0.05 is 5 %',
    kind: 'share',
    isRequired: true,
  },
]
const restOfTokens: readonly Parameter[] = [
  { name: 'platformFeeRecipient', title: 'Recipient of the platform' },
  { name: 'platformFeePercent', title: 'Share of the platform', hint: 'From 0 to 1', kind: 'share' },
  contractUri,
  {
    name: 'trustedForwarders',
    title: 'Trusted forwarders',
    hint: 'Addresses, with spaces between',
    kind: 'list',
  },
]

/** The templates by the ids that clients know. */
const templates: Readonly<Record<string, { title: string; parameters: readonly Parameter[] }>> = {
  'a1b74add-23e0-4712-88d1-6b3009e85a86': {
    title: 'ERC-20 token',
    parameters: [...ofTokens, ...restOfTokens],
  },
  '76b83278-50e2-4006-8b63-5b1a2a814533': {
    title: 'ERC-721 token',
    parameters: [...ofTokens, ...royalties, ...restOfTokens],
  },
  'aea21da6-0aa2-4971-9a1a-5098842b1248': {
    title: 'ERC-1155 multi-token',
    parameters: [...ofTokens, ...royalties, ...restOfTokens],
  },
  '13e322f2-18dc-4f57-8eed-4bddfc50f85e': { title: 'Airdrop', parameters: [admin, contractUri] },
}
const templateChoices = Object.entries(templates).map(([value, { title }]) => ({ value, title }))

const templateOf = ({ template }: FieldValues) => template ?? templateChoices[0]!.value
const fieldName = ({ name }: Parameter) => `templateParameters.${name}`

export const deployTemplate: Action<undefined> = {
  title: 'Deploy a template',
  icon: 'file-code',
  about: 'Deploys a token or an airdrop of this server, without source code or a compiler.',
  fields: withSecret((values) => [
    { name: 'template', title: 'Template', options: templateChoices },
    ...ownFields,
    ...templates[templateOf(values)]!.parameters.map((parameter) => ({
      name: fieldName(parameter),
      title: parameter.title,
      hint: parameter.hint,
      isOptional: !parameter.isRequired,
    })),
  ]),
  async run(_, values) {
    const template = templateOf(values)
    const given = templates[template]!.parameters.flatMap((parameter) => {
      const value = values[fieldName(parameter)]
      return value === undefined ? [] : [[parameter.name, read(parameter, value.trim())] as const]
    })
    const { data } = await ask<{ contractIds: string[] }>('POST', `/v1/w3s/templates/${template}/deploy`, {
      ...(await ownValues(values)),
      templateParameters: Object.fromEntries(given),
    })
    return { goTo: `/contracts/${data.contractIds[0]}` }
  },
}

const read = ({ kind }: Parameter, value: string): unknown =>
  kind === 'share' ? Number(value) : kind === 'list' ? value.split(/[\s,]+/) : value
