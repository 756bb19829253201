// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/jsonenc"
)

var testKeys = NewKeys([]string{
	"password", "Token", "secret", "authorization", "cookie", "api-key", "api_key", "credit card", "ключ", "密码", `a"b`, "-p", "",
})

// inLine is a line whose message is text.
func inLine(text string) []byte {
	return append(jsonenc.AppendString([]byte(`{"message":`), text), "}\n"...)
}

// messageOf decodes the message that inLine encodes.
func messageOf(t *testing.T, line []byte) string {
	t.Helper()
	var v struct{ Message string }
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return v.Message
}

// redact returns the line also if Redact leaves it as it is.
func redact(dst, line []byte, k *Keys) []byte { return orLine(Redact(dst, line, k), dst, line) }

// duplicates is redact for Duplicates.
func duplicates(dst, line []byte, p Policy, s *Scratch) []byte {
	return orLine(Duplicates(dst, line, p, s), dst, line)
}

// orLine returns an edited line, or the line if nothing was appended to dst.
func orLine(edited, dst, line []byte) []byte {
	if len(edited) == len(dst) {
		return append(dst, line...)
	}
	return edited
}

func TestRedactMembers(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"string", `{"password":"x","b":1}`, `{"password":"***","b":1}`},
		{"last", `{"b":1,"password":"x"}`, `{"b":1,"password":"***"}`},
		{"number", `{"password":-1.5e3,"b":1}`, `{"password":"***","b":1}`},
		{"true", `{"password":true}`, `{"password":"***"}`},
		{"null", `{"password":null,"b":null}`, `{"password":"***","b":null}`},
		{"object", `{"password":{"a":"}","b":[1]},"b":1}`, `{"password":"***","b":1}`},
		{"array", `{"password":["]","a"],"b":1}`, `{"password":"***","b":1}`},
		{"empty containers", `{"password":{},"secret":[]}`, `{"password":"***","secret":"***"}`},
		{"nested", `{"a":{"b":[{"token":"x"},{"token":["y"]}]}}`, `{"a":{"b":[{"token":"***"},{"token":"***"}]}}`},
		{"both cases", `{"PassWord":"x","TOKEN":"y"}`, `{"PassWord":"***","TOKEN":"***"}`},
		{"only ASCII letters fold", `{"КЛЮЧ":"x","ключ":"y"}`, `{"КЛЮЧ":"x","ключ":"***"}`},
		{"escaped key", `{"p\u0061ss\u0057ord":"x"}`, `{"p\u0061ss\u0057ord":"***"}`},
		{"escaped surrogates in a key", `{"\ud83d\ude42":"x"}`, `{"\ud83d\ude42":"x"}`},
		{"escaped quote in a key", `{"A\"B":"x"}`, `{"A\"B":"***"}`},
		{"whole keys only", `{"password2":"x","passwor":"y","my.password":"z","":"w"}`, `{"password2":"x","passwor":"y","my.password":"z","":"w"}`},
		{"key that is a pair", `{"password=x":"y"}`, `{"password=x":"y"}`},
		{"string that is a key", `{"a":"password","b":["token"]}`, `{"a":"password","b":["token"]}`},
		{"masked already", `{"password":"***"}`, `{"password":"***"}`},
		{"empty", `{}`, `{}`},
		{"strings in arrays", `{"a":["password=x",{"b":"token:y"}]}`, `{"a":["password=***",{"b":"token:***"}]}`},
		{"slash escaped in a URL", `{"a":"http:\/\/u:p@h"}`, `{"a":"http://u:***@h"}`},
		{"separator escaped", `{"a":"password\u003dx&b\u003d\"\n\u0001\ud800\ud83d\ude42"}`, `{"a":"password=***&b=\"\n\u0001\ud800🙂"}`},
		{"key in a text escaped", `{"a":"p\u0061ssword=x"}`, `{"a":"password=***"}`},
		{"escapes without a secret", `{"a":"\u0041\/:\u00e9"}`, `{"a":"\u0041\/:\u00e9"}`},
		{"mask before and behind escapes", `{"a":"password=x","b":"\u0070assword=y","c":"password=z"}`, `{"a":"password=***","b":"password=***","c":"password=***"}`},
	}
	for _, tt := range tests {
		for _, end := range []string{"", "\n"} {
			if got := redact([]byte("dst"), []byte(tt.line+end), testKeys); string(got) != "dst"+tt.want+end {
				t.Errorf("%s\ngot  %s\nwant %s", tt.name, got, tt.want)
			}
		}
	}
}

func TestEditsAppendNothingToALineThatStays(t *testing.T) {
	line := []byte(`{"time":"09:26:53","a":"b:c=d http://x:80/","n":-1.5,"user":{"name":"x"}}` + "\n")
	if got := Redact([]byte("dst"), line, testKeys); string(got) != "dst" {
		t.Errorf("Redact: got %q", got)
	}
	var s Scratch
	for p := KeepAll; p <= Rename; p++ {
		if got := Duplicates([]byte("dst"), line, p, &s); string(got) != "dst" {
			t.Errorf("Duplicates, policy %d: got %q", p, got)
		}
	}
}

func TestRedactURLs(t *testing.T) {
	tests := []struct{ in, want string }{
		{"postgres://bob:x@host/db", "postgres://bob:***@host/db"},
		{"dial amqp://bob:x@host:5672/ failed", "dial amqp://bob:***@host:5672/ failed"},
		{"redis://:x@host", "redis://:***@host"},
		{"http://bob:a:b@c:d@host/x@y", "http://bob:***@host/x@y"},
		{"http://bob:x@host?q=a@b", "http://bob:***@host?q=a@b"},
		{"http://bob:x@[::1]:80/", "http://bob:***@[::1]:80/"},
		{`"http://bob:x@host","bob@example.org"`, `"http://bob:***@host","bob@example.org"`},
		{`{"u":"http://h:80","m":"bob@example.org"}`, `{"u":"http://h:80","m":"bob@example.org"}`},
		{`{"u":"https:\/\/bob:x@h\/p"}`, `{"u":"https:\/\/bob:***@h\/p"}`},
		{`{"u":"http:\/\/h:80\/@x"}`, `{"u":"http:\/\/h:80\/@x"}`},
		{"mongodb://bob:x@h1:1,h2:2/db", "mongodb://bob:***@h1:1,h2:2/db"},
		{"git+ssh://bob:x@host", "git+ssh://bob:***@host"},
		{"a://b:x@c d://e:y@f", "a://b:***@c d://e:***@f"},
		{"postgres://bob:a/b?c#d@host/db", "postgres://bob:***@host/db"},
		{"postgres://bob:üñ%40\\x@host", "postgres://bob:***@host"},
		{"https://git@github.com/a:b@c", "https://git@github.com/a:b@c"},
		{"https://host:443/@name", "https://host:443/@name"},
		{"https://host:/@name", "https://host:/@name"},
		{"kafka://a:1,b:2/x@y", "kafka://a:1,b:2/x@y"},
		{"http://[::1]/a@b http://bob:@h", "http://[::1]/a@b http://bob:@h"},
		{"http://host:x\nbob@host", "http://host:x\nbob@host"},
		{"http://host:x bob@host <http://host:y>@", "http://host:x bob@host <http://host:y>@"},
		{"://bob:x@host //bob:x@host a:/bob:x@host", "://bob:x@host //bob:x@host a:/bob:x@host"},
		{"http://bob:***@host", "http://bob:***@host"},
		{`parse "redis://bob:a/b@host": invalid port ":a" after host`, `parse "redis://bob:***@host": invalid port ":***" after host`},
		{`{"e":"invalid port \":a b\" after host"}`, `{"e":"invalid port \":***\" after host"}`},
		{`no port ":a" given`, `no port ":a" given`},
		{"http://", "http://"},
		{"http://a:b", "http://a:b"},
		{"http:/", "http:/"},
	}
	for _, tt := range tests {
		if got := messageOf(t, redact(nil, inLine(tt.in), nil)); got != tt.want {
			t.Errorf("in   %s\ngot  %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

// textTests are texts with secrets in them. A test may hold several cases of
// one kind, separated by line ends.
var textTests = []struct{ name, in, want string }{
	{"colon", "password: x user: bob\npassword:x user:bob\npassword : x", "password: *** user: bob\npassword:*** user:bob\npassword : ***"},
	{"equals", "password=x user=bob\npassword = x\npassword==x", "password=*** user=bob\npassword = ***\npassword==***"},
	{"arrow", "password => x, a => b\npassword=>x\npassword := x", "password => ***, a => b\npassword=>***\npassword := ***"},
	{"tabs", "password:\tx\tb password\t= x", "password:\t***\tb password\t= ***"},
	{"any case", "PASSWORD=x Password: y pAssWord=z", "PASSWORD=*** Password: *** pAssWord=***"},
	{"no value", "password= \npassword:\npassword", "password= \npassword:\npassword"},
	{"delimiters", "password=x,a password=x;a password=x&a", "password=***,a password=***;a password=***&a"},
	{"enclosed", "(password=x) [password=x] {password=x} <password=x> 'password=x' `password=x` \"password=x\"", "(password=***) [password=***] {password=***} <password=***> 'password=***' `password=***` \"password=***\""},
	{"closers within", `password=a)b]c}d>e'f"g h`, "password=*** h"},
	{"backslashes", `password=a\b\\c d`, "password=*** d"},
	{"base64", "token=YWJj+/==, b", "token=***, b"},
	{"colons within", "token=a:b:c d", "token=*** d"},
	{"not ASCII", "password=пароль bob", "password=*** bob"},
	{"letter beyond ASCII behind a closer", "password=]éx b password=a)éx ключ=]密x b ключ='l'été' Cookie: l'été; b", "password=*** b password=*** ключ=*** b ключ='***' Cookie: ***"},
	{"closer in front", "password=]!x b token=)]$x (password=) {[token=]}, [token:]", "password=*** b token=*** (password=) {[token=]}, [token:]"},
	{"closer before Chinese", "(password=a)密x [密码=]。", "(password=***)密x [密码=]。"},
	{"control characters", "password=a\x01b\x7fc d", "password=*** d"},

	{"double quotes", `password="a b" c password: "a, b", c`, `password="***" c password: "***", c`},
	{"single quotes", `password='a b' c`, `password='***' c`},
	{"back quotes", "password=`a b` c", "password=`***` c"},
	{"escaped quotes", `password="a \" b" c password='a \' b' c`, `password="***" c password='***' c`},
	{"doubled quotes", `password='it''s x' c password="a"" b" c`, `password='***' c password="***" c`},
	{"quote within a word", `password="a"b c" d password='it's x' d`, `password="***" d password='***' d`},
	{"empty quotes", `password="" c password='' c`, `password="***" c password='***' c`},
	{"last is a backslash", `password="a b\\" c`, `password="***" c`},
	{"quotes without an end", `password="a b c`, `password="***`},
	{"quotes of Python", "password=b'a b' c token=rb\"a b\" c", "password=b'***' c token=rb\"***\" c"},
	{"letter before a closing quote", `"password=b","a b"`, `"password=***","a b"`},

	{"word in front", "db_password=x dbpassword=x db-password=x 2password=x", "db_password=x dbpassword=x db-password=x 2password=x"},
	{"word behind", "password_=x passwords=x password2=x", "password_=x passwords=x password2=x"},
	{"own word", "db.password=x /password=x $password=x a,password=x (password=x", "db.password=*** /password=*** $password=*** a,password=*** (password=***"},
	{"hyphens", "--password=x -password=x api-key=x api_key=x apikey=x", "--password=*** -password=*** api-key=*** api_key=*** apikey=x"},
	{"key that begins with a hyphen", "-p=x -P: x p=x", "-p=*** -P: *** p=x"},
	{"key of two words", "credit card: 4111 Credit Card=5 xcredit card=6", "credit card: *** Credit Card=*** xcredit card=6"},
	{"key of two words behind an escape", "\ncredit card: 4111 \x01credit card=5", "\ncredit card: *** \x01credit card=***"},
	{"key with a quote", `a"b=x`, `a"b=***`},
	{"key that is not ASCII", "ключ=x мойключ=x myключ=x КЛЮЧ=x", "ключ=*** мойключ=*** myключ=*** КЛЮЧ=x"},
	{"Chinese", "用户：bob，密码：x，登录失败password=x。用户密码＝x）token:“x” ！：x", "用户：bob，密码：***，登录失败password=***。用户密码＝***）token:***” ！：x"},
	{"line end in front", "a\npassword=x\r\npassword=y\tpassword=z", "a\npassword=***\r\npassword=***\tpassword=***"},
	{"control character in front", "\x01password=x \u2028password=y", "\x01password=*** \u2028password=***"},
	{"letter of an escape", "\token=x \btoken=x C:\\token=x", "\token=x \btoken=*** C:\\token=***"},
	{"escaped line end in front", `a\npassword=x`, `a\npassword=***`},

	{"query", "GET /?a=b&password=x&c=d HTTP", "GET /?a=b&password=***&c=d HTTP"},
	{"form", "user[password]=x&user%5Bpassword%5D=y&a=%26password=z", "user[password]=***&user%5Bpassword%5D=***&a=%26password=***"},
	{"form with arrays", "password[]=x&user[password][]=y&token%5B%5D=z&a[]=b", "password[]=***&user[password][]=***&token%5B%5D=***&a[]=b"},
	{"index", "$_POST['password'] = 'x y'; params[\"token\"]=x", "$_POST['password'] = '***'; params[\"token\"]=***"},
	{"URL with both", "http://bob:x@h/?token=y&a=b", "http://bob:***@h/?token=***&a=b"},
	{"URL as a value", "token=http://bob:x@h/ b", "token=*** b"},
	{"URL whose password begins with the mask", "http://bob:***x@h http://bob:***,http://bob:x@h", "http://bob:***@h http://bob:***@h"},
	{"key as the user of a URL", "a://password:x@h a://token:///&@>", "a://password:***@h a://token:***&@>"},
	{"a key behind the port of a URL", "0://:0,token:#&@", "0://:0,token:***&@"},
	{"connection string", "Server=h;Password=x;User=bob", "Server=h;Password=***;User=bob"},

	{"map", "map[password:x user:bob]", "map[password:*** user:bob]"},
	{"struct", "{User:bob Password:x Age:3} &{Password:x}", "{User:bob Password:*** Age:3} &{Password:***}"},
	{"nested struct", "{A:{Password:{Plain:x y N:{Z:1}} B:1}}", "{A:{Password:*** B:1}}"},
	{"pointer to a struct", "{Password:&{Plain:x y} B:1}", "{Password:*** B:1}"},
	{"slice", "{Password:[a b c] B:[d]}", "{Password:*** B:[d]}"},
	{"map in a struct", "{Password:map[a:b c:d] B:1}", "{Password:*** B:1}"},
	{"wrong brackets within", "{Password:[a} b) c] B:1}", "{Password:*** B:1}"},
	{"Go syntax", `main.T{Password:"a b", Token:main.S{P:"x y", Q:[]byte{0x1, 0x2}}, B:1}`, `main.T{Password:"***", Token:***, B:1}`},
	{"bracket without an end", "password=[a b c", "password=***"},
	{"deep brackets", "Password:[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[a b]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]] c", "Password:***"},

	{"JSON", `{"password":"x y","b":"c"}`, `{"password":"***","b":"c"}`},
	{"JSON with spaces", `{ "password" : "x y" , "b" : "c" }`, `{ "password" : "***" , "b" : "c" }`},
	{"JSON with tabs and line ends", "{\"password\"\t:\t\"x y\",\r\n\"token\"\n:\r\n{\n\"a\": 1\n},\"b\":\n1}", "{\"password\"\t:\t\"***\",\r\n\"token\"\n:\r\n\"***\",\"b\":\n1}"},
	{"JSON with line ends in JSON", `{"a":"{\"password\"\n:\n\"x y\",\"b\":1}"}`, `{"a":"{\"password\"\n:\n\"***\",\"b\":1}"}`},
	{"JSON numbers", `{"password":123,"token":null}`, `{"password":"***","token":"***"}`},
	{"JSON objects", `{"password":{"a":"} x"},"token":["]",{}],"b":1}`, `{"password":"***","token":"***","b":1}`},
	{"JSON in JSON", `{"a":"{\"password\":\"x y\",\"b\":1}","token":1}`, `{"a":"{\"password\":\"***\",\"b\":1}","token":"***"}`},
	{"JSON in JSON in JSON", `{"a":"{\"b\":\"{\\\"password\\\":\\\"x y\\\",\\\"c\\\":1}\"}"}`, `{"a":"{\"b\":\"{\\\"password\\\":\\\"***\\\",\\\"c\\\":1}\"}"}`},
	{"pair in JSON", `{"a":"b password=x\" y","c":"password=x"}`, `{"a":"b password=***\" y","c":"password=***"}`},
	{"quoted pair in JSON", `{"a":"password='x y'"}`, `{"a":"password='***'"}`},
	{"escaped key in JSON", `{"p\u0061ssword":"x","\u0074oken":1,"b":"\u0061"}`, `{"p\u0061ssword":"***","\u0074oken":"***","b":"\u0061"}`},
	{"escaped separator in JSON", `{"u":"http://h?a\u003db&token\u003dx&a=b","v":"password =\u003E \"x y\", password\u003d\u003e'x y', a"}`, `{"u":"http://h?a\u003db&token\u003d***&a=b","v":"password =\u003E \"***\", password\u003d\u003e'***', a"}`},
	{"escaped separator in JSON in JSON", `["[\"token\\u003dx y\\u003d\"]","a\u003etoken\u003Dx"]`, `["[\"token\\u003d*** y\\u003d\"]","a\u003etoken\u003D***"]`},
	{"no other separator", `["token\u003dx y"]`, `["token\u003d*** y"]`},
	{"JSON that is cut off", `{"a":"{\"password\":\"x y`, `{"a":"{\"password\":\"***`},
	{"JSON cut off within", `{"a":"{\"password\":\"x y","b":"c"}`, `{"a":"{\"password\":\"***","b":"c"}`},
	{"bracket cut off within JSON", `{"a":"password=[a \"b c","b":"c"}`, `{"a":"password=***","b":"c"}`},
	{"header cut off within JSON", `{"a":"Cookie: a=\"b=","b":"c"}`, `{"a":"Cookie: ***","b":"c"}`},
	{"inner text cut off before a word", `"a password=\"x y"z b"`, `"a password=\"***"z b"`},
	{"Python", `{'password': 'x y', 'b': None, 'token': None}`, `{'password': '***', 'b': None, 'token': ***}`},
	{"Ruby", `{"password"=>"x y", :token=>"x", "b"=>"c"}`, `{"password"=>"***", :token=>"***", "b"=>"c"}`},

	{"bearer", "Authorization: Bearer abc.def\r\nHost: x", "Authorization: Bearer ***\r\nHost: x"},
	{"basic", "authorization: basic YTpi, next", "authorization: basic ***, next"},
	{"digest", "Authorization: Digest a=\"b c\", d=e\nHost: x", "Authorization: Digest ***\nHost: x"},
	{"other schemes", "Authorization: AWS4-HMAC Credential=a, Signature=b\nHost: x", "Authorization: ***\nHost: x"},
	{"token with parameters", "Authorization: Token token=\"a\", b=\"c\"\nHost: x", "Authorization: Token ***\nHost: x"},
	{"cookies", "Cookie: a=b; c=d\nHost: x", "Cookie: ***\nHost: x"},
	{"escaped line end", `Cookie: a=b; c=d\r\nHost: x`, `Cookie: ***\r\nHost: x`},
	{"header in quotes", `curl -H "Authorization: Digest a=\"b c\", d" -H 'Cookie: a=b; c=d' x`, `curl -H "Authorization: Digest ***" -H 'Cookie: ***' x`},
	{"header in JSON", `{"h":"Authorization: Digest a=\"b c\", d","x":"y"}`, `{"h":"Authorization: Digest ***","x":"y"}`},
	{"header map", "map[Authorization:[Bearer x] Cookie:[a=b; c=d] Host:[x]]", "map[Authorization:*** Cookie:*** Host:[x]]"},
	{"scheme elsewhere", "token: Bearer x y token=basic \"x y\" z", "token: Bearer *** y token=basic \"***\" z"},
	{"scheme behind a quoted key", `{"token": Bearer x, "b": 1}`, `{"token": Bearer ***, "b": 1}`},
	{"scheme alone", "token=basic\ntoken: bearer, a token: digest", "token=***\ntoken: ***, a token: ***"},

	{"nothing", "a: b, time=12:30 http://h:80/?a=b (see: x) C:\\d", "a: b, time=12:30 http://h:80/?a=b (see: x) C:\\d"},
	{"masked already", `password=*** "token":"***" http://bob:***@h`, `password=*** "token":"***" http://bob:***@h`},
}

func TestRedactTexts(t *testing.T) {
	for _, tt := range textTests {
		if got := messageOf(t, redact(nil, inLine(tt.in), testKeys)); got != tt.want {
			t.Errorf("%s\nin   %s\ngot  %s\nwant %s", tt.name, tt.in, got, tt.want)
		}
	}
}

// Quadratic time would take minutes here.
func TestRedactTakesTimeInProportionToItsText(t *testing.T) {
	const size = 2 << 20
	tests := []struct{ text, behind string }{
		{"x://a:***", "@"},
		{"x://token:***,", "@"},
		{"x://a:b ", "@"},
		{"x://a:b", ""},
	}
	for _, tt := range tests {
		redact(nil, inLine(strings.Repeat(tt.text, size/len(tt.text))+tt.behind), testKeys)
	}
	redact(nil, inLine("a:"+strings.Repeat(`\`, size)+`u003d`), testKeys)
	redact(nil, inLine("x://a:"+strings.Repeat("1", size)+"x"+strings.Repeat("/", size)), testKeys)
	redact(nil, []byte(`{"a":["`+strings.Repeat(`\u001b[0m","`, size/8)+`"]}`), testKeys)
}

// A text must not be read beyond its end, and a mask must not extend beyond it.
func TestRedactKeepsWhatIsAroundAText(t *testing.T) {
	for _, tt := range textTests {
		for i := range len(tt.in) + 1 {
			text := jsonenc.AppendString(nil, tt.in[:i])
			line := []byte(`{"a":` + string(text) + `,"b":"c\" d","e":1}`)
			got := redact(nil, line, testKeys)
			var v struct{ B string }
			if err := json.Unmarshal(got, &v); err != nil || v.B != `c" d` {
				t.Errorf("%s\nin  %s\ngot %s (%v)", tt.name, line, got, err)
			}
		}
	}
}

func TestRedactLeavesBrokenLinesAlone(t *testing.T) {
	for _, line := range []string{``, `{`, `"`, `{"a`, `{"a\`, `{"password`, `{"password":`, `{"password":"`, `{"password":{`, `{"password":["`, `not: JSON`, "\n", `{"a":"\u"}`, `{"a":"\u12:"}`} {
		if got := string(redact(nil, []byte(line), testKeys)); got != line {
			t.Errorf("got %q, want %q", got, line)
		}
	}
}

// A key is found in the same places whatever the last letters of other keys
// are.
func TestRedactFindsAKeyWithoutHelpOfOthers(t *testing.T) {
	for _, key := range []string{"password", "token", "cookie", "authorization"} {
		names := []string{key}
		for _, last := range "abcdefghijklmnopqrstuvwxyz0123456789_-" {
			names = append(names, strings.Repeat("q", len(key)-1)+string(last))
		}
		alone, all := NewKeys(names[:1]), NewKeys(names)
		for _, tt := range textTests {
			line := inLine(tt.in)
			got, want := redact(nil, line, alone), redact(nil, line, all)
			if !bytes.Equal(got, want) {
				t.Errorf("%s, %s alone\ngot  %s\nwant %s", tt.name, key, got, want)
			}
		}
	}
}

func TestKeysDoNotChangeWithTheirSource(t *testing.T) {
	names := []string{"password"}
	k := NewKeys(names)
	names[0] = "user"
	if got, want := string(redact(nil, []byte(`{"password":1,"user":2}`), k)), `{"password":"***","user":2}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestKeysThatAreNotUTF8(t *testing.T) {
	k := NewKeys([]string{"a\xff", "b\xff c"})
	line := append(jsonenc.AppendString([]byte(`{"a`+"\ufffd"+`":1,"m":`), "a\xff=1 b\xff c=2"), '}')
	if got, want := string(redact(nil, line, k)), `{"a`+"\ufffd"+`":"***","m":"a`+"\ufffd"+`=*** b`+"\ufffd"+` c=***"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
