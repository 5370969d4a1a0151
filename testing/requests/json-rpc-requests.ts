import { freshAddress } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

const call = (method: string, params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })

/** Sample requests for the JSON-RPC endpoints. */
export const jsonRpcRequests: Record<string, RequestSamples> = {
  'POST /v1/rpc/w3s/buidl': {
    request: async () => ({ body: call('rp_getLoginOptions', ['']) }),
  },
  'POST /v1/rpc/w3s/buidl/{chain}': {
    request: async () => ({
      params: { chain: 'baseSepolia' },
      body: call('eth_getBalance', [freshAddress(), 'latest']),
    }),
  },
}
