import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  encodeFunctionData,
  parseEventLogs,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { readTemplateParameters, type TemplateValues } from '#api/contracts/templates/read-parameters'
import { requireTemplate } from '#api/contracts/templates/templates'
import { deploy } from './token-calls.ts'
import { people, type TokenChain } from './token-chain.ts'

/** The documented ids, as customers send them. */
export const templateIds = {
  erc20: 'a1b74add-23e0-4712-88d1-6b3009e85a86',
  erc721: '76b83278-50e2-4006-8b63-5b1a2a814533',
  erc1155: 'aea21da6-0aa2-4971-9a1a-5098842b1248',
  airdrop: '13e322f2-18dc-4f57-8eed-4bddfc50f85e',
}

/** Parameters of each token template; the owner of these tests is the admin. */
export const tokenParameters = {
  name: 'Gold Coins',
  symbol: 'GLD',
  defaultAdmin: people.owner.address,
  primarySaleRecipient: people.carol.address,
}
export const collectionParameters = {
  ...tokenParameters,
  royaltyRecipient: people.carol.address,
  royaltyPercent: 0.05,
}

export const adminRole = `0x${'0'.repeat(64)}`

export type Deployed = Awaited<ReturnType<typeof deployTemplate>>

/** Deploys a template with parameters as customers send them, and gives back calls of that contract. */
export async function deployTemplate(chain: TokenChain, id: string, values: TemplateValues) {
  const template = requireTemplate(id)
  const abi = JSON.parse(template.abiJson) as Abi
  const args = readTemplateParameters(template.parameters, 'ETH-SEPOLIA', values)
  const address = await deploy(chain, abi, template.bytecode, args)
  return { address, abi, ...callsOf(chain, address, abi) }
}

function callsOf({ client }: TokenChain, address: Address, abi: Abi) {
  const read = (functionName: string, ...args: unknown[]): Promise<unknown> =>
    client.readContract({ address, abi, functionName, args })

  /** Sends a call and waits for its block; a call that reverts there fails the test. */
  const send = async (account: PrivateKeyAccount, functionName: string, ...args: unknown[]) => {
    const data = encodeFunctionData({ abi, functionName, args })
    const receipt = await client.sendTransactionSync({ account, to: address, data })
    const logs = parseEventLogs({ abi, logs: receipt.logs })
    return {
      gasUsed: Number(receipt.gasUsed),
      events: logs.map(({ eventName, args }) => ({ eventName, args: { ...args } })),
    }
  }

  /** The name of the custom error with which the call is refused; an Error when it is not refused. */
  const refusal = async (account: PrivateKeyAccount, functionName: string, ...args: unknown[]) => {
    try {
      await client.simulateContract({ address, abi, functionName, args, account })
    } catch (error) {
      const reverted =
        error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError)
      if (reverted instanceof ContractFunctionRevertedError && reverted.data) return reverted.data.errorName
      throw error
    }
    throw new Error(`${functionName} was not refused`)
  }
  return { read, send, refusal }
}
