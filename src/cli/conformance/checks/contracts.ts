import { stablecoinsOf } from '#chains/network'
import { networkOf } from '#chains/networks/index'
import { requireEqual, requireThat } from '../caller.ts'
import type { CheckGroup } from '../world.ts'

const abiJson = JSON.stringify(
  [
    ['decimals', 'uint8'],
    ['symbol', 'string'],
  ].map(([name, type]) => ({
    type: 'function',
    name,
    inputs: [],
    outputs: [{ name: '', type }],
    stateMutability: 'view',
  })),
)

export const contracts: CheckGroup = {
  name: 'contracts',
  checks: [
    {
      about: 'lists stablecoins without a key',
      run: async ({ done }) => {
        const coins = (await done('GET /v1/stablecoins', { key: null })) as { symbol: string }[]
        requireThat(
          coins.some(({ symbol }) => symbol === 'USDC'),
          'USDC is not among them',
        )
      },
    },
    {
      about: 'reads a contract by the signature of a function, and decodes what it returns',
      run: async ({ done, blockchain }) => {
        const { address } = stablecoinsOf(networkOf(blockchain)!).find(({ symbol }) => symbol === 'USDC')!
        const query = (abiFunctionSignature: string) =>
          done('POST /v1/w3s/contracts/query', {
            body: { address, blockchain, abiFunctionSignature, abiJson },
          })
        requireEqual((await query('decimals()')).outputValues.map(String), ['6'], 'decimals')
        requireEqual((await query('symbol()')).outputValues, ['USDC'], 'symbol')
      },
    },
    {
      about: 'refuses a function that the ABI has not',
      run: async ({ refused, blockchain }) => {
        const body = {
          address: '0x000000000000000000000000000000000000dEaD',
          blockchain,
          abiFunctionSignature: 'nothing()',
          abiJson,
        }
        await refused(
          'POST /v1/w3s/contracts/query',
          ['functionNotInAbi', 'contractQueryFailed', 'queryImpossible'],
          { body },
        )
      },
    },
  ],
}
