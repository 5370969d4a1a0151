import { describe, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { proxiedOperation } from './operations.ts'

const proxied = endpoints.flatMap(({ method, path, userToken }) => {
  const operation = proxiedOperation(method, path.replaceAll('{id}', 'an-id'))
  return operation ? [{ name: `${method} ${path}`, takesToken: userToken !== undefined, ...operation }] : []
})

describe('property 271: an operation that the proxy passes on', () => {
  it('takes the token of the user, which the API verifies, unless it is for strangers', () => {
    expect(proxied.length).toBeGreaterThan(20)
    expect(proxied.filter(({ needsUser, takesToken }) => needsUser !== takesToken)).toEqual([])
  })
})
