import { HTTPFacilitatorClient } from '@x402/core/http'

/** The connection of a seller to the facilitator of a server, by the published client. */
export function facilitatorOf(url: string, apiKey: string): HTTPFacilitatorClient {
  const headers = { authorization: `Bearer ${apiKey}` }
  return new HTTPFacilitatorClient({
    url: `${url}/v1/facilitator/x402`,
    createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
  })
}
