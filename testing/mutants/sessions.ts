import { edit, type Mutant, proof } from './mutant.ts'

const email = (title: string) => proof('src/api/users/email-login.test.ts', title)
const social = (title: string) => proof('src/api/users/social-login.test.ts', title)
const userTokens = (title: string) => proof('src/api/users/user-tokens.test.ts', title)

const sessions = 'src/identity/sessions.ts'
const codes = 'src/identity/login-codes.ts'
const idToken = 'src/runtime/social/id-token.ts'

/** Logins and sessions: bugs here let strangers in. */
export const sessionMutants: readonly Mutant[] = [
  {
    name: 'refresh-token-again',
    about: 'a refresh token renews a session any number of times',
    edits: [edit(sessions, 'await useRefreshToken(db, entity.id, sha256, nowMs)', 'void useRefreshToken')],
    test: email('renews a session once for each refresh token'),
  },
  {
    name: 'theft-leaves-session',
    about: 'a refresh token that comes again is refused, and its session goes on',
    edits: [edit(sessions, 'ctx.afterRollback.push(() =>', '[].forEach(() =>')],
    test: email('ends the session when one refresh token comes many times at once'),
  },
  {
    name: 'theft-undone-by-rollback',
    about: 'the end of a stolen session is rolled back with the refusal',
    edits: [
      edit(
        sessions,
        'ctx.database.tx(async (tx) => {',
        '((act: (tx: typeof db) => Promise<void>) => act(db))(async (tx) => {',
      ),
    ],
    test: email('ends the session when one refresh token comes many times at once'),
  },
  {
    name: 'entry-uncounted',
    about: 'wrong entries of a code are not counted',
    edits: [edit(codes, 'await countEntry(db, entity.id, id)', 'void countEntry')],
    test: email('ends a code after three entries'),
  },
  {
    name: 'code-used-again',
    about: 'a right code begins any number of sessions',
    edits: [
      edit(
        codes,
        'if (!(await endLoginCode(db, entity.id, id, clock.nowMs()))) throw',
        'if (clock.nowMs() < 0) throw',
      ),
    ],
    test: email('accepts a right code once'),
  },
  {
    name: 'ended-session-counts',
    about: 'the tokens of a session count after its end',
    edits: [
      edit(
        'src/identity/tokens.ts',
        "if (held.isEnded) throw new ApiError('userTokenInvalid', endedText)",
        'void endedText',
      ),
    ],
    test: email('renews a session once for each refresh token'),
  },
  {
    name: 'token-of-any-entity',
    about: 'a user token counts at every entity that has a user of this id',
    edits: [
      edit('src/identity/tokens.ts', '(entityId !== undefined && named !== entityId)', 'named === undefined'),
    ],
    test: userTokens('refuses the token of another entity'),
  },
  {
    name: 'audience-unchecked',
    about: 'a token of a provider for any app logs in',
    edits: [
      edit(idToken, 'audience: clientIds,', ''),
      edit(idToken, 'if (!isForOnly(clientIds, payload)) throw', 'if (!isForOnly) throw'),
    ],
    test: social('refuses other apps, issuers, keys, algorithms and times'),
  },
  {
    name: 'other-audiences-unchecked',
    about: 'a token for an app of the entity and for others logs in',
    edits: [edit(idToken, 'if (!isForOnly(clientIds, payload)) throw', 'if (!isForOnly) throw')],
    test: social('refuses other apps, issuers, keys, algorithms and times'),
  },
  {
    name: 'issuer-unchecked',
    about: 'a token with a key of the issuer logs in whatever issuer it names',
    edits: [edit(idToken, 'issuer: namesOf(issuer),', '')],
    test: social('refuses other apps, issuers, keys, algorithms and times'),
  },
  {
    name: 'provider-of-any-entity',
    about: 'the apps of all entities count at each of them',
    edits: [
      edit(
        'src/runtime/social/identity.ts',
        'socialProviders.filter((each) => each.entityId === entityId)',
        'socialProviders.filter((each) => each.entityId !== entityId || each.entityId === entityId)',
      ),
    ],
    test: social('refuses the token of an entity at another one'),
  },
  {
    name: 'id-token-again',
    about: 'an ID token begins any number of sessions',
    edits: [
      edit(
        'src/api/users/log-in-by-social.ts',
        'if (identity.used) await useIdToken(scope, identity.used)',
        'void useIdToken',
      ),
    ],
    test: social('begins one session with an ID token'),
  },
  {
    name: 'id-token-by-spelling',
    about: 'a used ID token is recognised by its spelling, which its holder can change',
    edits: [edit(idToken, "text.slice(0, text.lastIndexOf('.'))", 'text')],
    test: social('begins one session with an ID token'),
  },
  {
    name: 'device-token-again',
    about: 'a device token begins any number of sessions',
    edits: [
      edit('src/api/users/log-in-by-social.ts', 'await useDeviceToken(scope, device)', 'void useDeviceToken'),
    ],
    test: social('needs an active device token with its key, which works once'),
  },
  {
    name: 'first-logins-at-once',
    about: 'first logins of an identity at once are not serialized',
    edits: [edit(sessions, 'await lockIdentity(db, entity.id, identity)', 'void lockIdentity')],
    test: social('makes one user in twenty first logins at once'),
  },
  {
    name: 'expired-logins-kept',
    about: 'rows of logins stay when they have expired',
    edits: [edit('src/identity/store/expired.ts', 'const removedEach = 10', 'const removedEach = 0')],
    test: social('forgets what has expired'),
  },
]
