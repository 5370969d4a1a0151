import { edit, type Mutant, proof } from './mutant.ts'

const admission = 'src/runtime/http/admission.ts'
const withoutKey = (title: string) => proof('testing/without-a-key.test.ts', title)

/** Callers, and the cost of answering them. */
export const callerMutants: readonly Mutant[] = [
  {
    name: 'body-before-key',
    about: 'the body of a request is read before its key is checked',
    edits: [edit(admission, "server.addHook('onRequest'", "server.addHook('preValidation'")],
    test: withoutKey('property 65: is not waited for when'),
  },
  {
    name: 'parsed-unbounded',
    about: 'values are made of a body however many and deep they are',
    edits: [edit('src/runtime/http/body.ts', 'if (reason) throw badBody(reason)', '')],
    test: withoutKey('property 65: becomes no value'),
  },
  {
    name: 'unverified-key-counted',
    about: 'a request with a wrong secret is counted for the key whose id it names',
    edits: [
      edit(
        admission,
        'await limit(request, reply, normalizeIP(request.ip))\n      throw error',
        "await limit(request, reply, 'key:'.concat(String(request.headers.authorization?.split(':')[1])))\n      throw error",
      ),
    ],
    test: withoutKey('property 65: cannot be spent by who knows its public half'),
  },
  {
    name: 'forged-origins-counted',
    about: 'a request is counted for the address that it claims to come from',
    edits: [
      edit(
        'src/runtime/http/server.ts',
        'trustProxy: config.proxies.length > 0 && config.proxies',
        'trustProxy: true',
      ),
    ],
    test: withoutKey('property 65: counts a forwarded address only'),
  },
  {
    name: 'keys-asked-one-by-one',
    about: 'each key that somebody makes up is a query of its own',
    edits: [
      edit(
        'src/runtime/auth/key-lookup.ts',
        'return (await lookUpAsked()).get(id)',
        'return (await lookUpAsked()) && (await findApiKeys(db, [id]))[0]',
      ),
    ],
    test: withoutKey('property 65: are looked up together'),
  },
  {
    name: 'decryption-without-turns',
    about: 'ciphertexts are decrypted in the order in which all tenants sent them',
    edits: [edit('src/custody/transport.ts', 'return lanes.run(asker, ', "return lanes.run('all', ")],
    test: proof('src/custody/transport.test.ts', 'property 65: one ciphertext is decrypted before the many'),
  },
  {
    name: 'customers-are-operators',
    about: 'the key of a customer opens the routes of operators',
    edits: [
      edit(
        admission,
        'if (scopes.includes(needed)) return',
        "if (scopes.includes(needed) || scopes.includes('api')) return",
      ),
    ],
    test: proof('testing/isolation.test.ts', 'property 47: every operation declares who may ask'),
  },
]
